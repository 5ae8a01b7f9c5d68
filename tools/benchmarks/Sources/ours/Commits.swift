import Glibc
import SharedSpace

/// The number of a namespace's last commit, as its file has it.
///
/// Reading it costs two loads, so the processes of a crowd can look after each message.
struct Commits {
    private static let magic: UInt32 = 0xBEEF_C0DE
    /// mdb.c: a page's header precedes `MDB_meta`, whose first field is the magic number; the transaction's id is at its
    /// end.
    private static let magicOffset = 16
    private static let transactionOffset = 144

    private let metaPages: UnsafeRawPointer
    private let pageSize: Int

    init(_ space: Space, _ namespace: String) throws {
        pageSize = Int(getpagesize())
        let path = "\(space.root)/\(namespace)/data.mdb"
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Failure("\(path): errno \(errno)") }
        defer { close(file) }
        guard let map = mmap(nil, 2 * pageSize, PROT_READ, MAP_SHARED, file, 0), map != MAP_FAILED else {
            throw Failure("mmap: errno \(errno)")
        }
        metaPages = UnsafeRawPointer(map)
        for page in 0...1 {
            let found = metaPages.load(fromByteOffset: page * pageSize + Self.magicOffset, as: UInt32.self)
            guard found == Self.magic else { throw Failure("\(path): page \(page) is no meta page") }
        }
    }

    /// The higher one of the two meta pages' numbers is the last commit's.
    var last: Int {
        let first = metaPages.load(fromByteOffset: Self.transactionOffset, as: UInt64.self)
        let second = metaPages.load(fromByteOffset: pageSize + Self.transactionOffset, as: UInt64.self)
        return Int(max(first, second))
    }
}
