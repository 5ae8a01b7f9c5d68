/// A meta page: the roots of one commit.
///
/// mdb.c: a meta page has a header of 16 bytes and then `MDB_meta`: magic number, version, address and size of the map,
/// the roots of the free pages and of the main database, the last page, and the commit's number. All are in the
/// machine's byte order.
package struct MetaPage: Sendable {
    static let size = 152
    private static let metaFlag: UInt16 = 8
    /// The flags of the table of free pages (mdb.c: `MDB_INTEGERKEY`); the main database has none.
    private static let freeFlags: UInt16 = 8
    /// The bytes of address space that x86-64 and arm64 give a process.
    private static let addresses: UInt64 = 1 << 47

    package let number: UInt64
    package let pageSize: Int
    package let mapSize: UInt64
    package let free: TreeRoot
    package let main: TreeRoot
    package let lastPage: UInt64
    package let transaction: UInt64
    private let mapAddress: UInt64

    /// Reads a meta page; `nil` if the bytes lack a constant part of the meta page of that number.
    init?(_ bytes: [UInt8]?, number: UInt64) {
        guard let bytes, bytes.count >= Self.size, bytes.number(0) == number,
            bytes.number(10, UInt16.self) & Self.metaFlag != 0, Self.isLMDB(bytes),
            let pageSize = Self.pageSize(bytes),
            let free = TreeRoot(bytes[40..<88]), let main = TreeRoot(bytes[88..<136])
        else { return nil }
        self.number = number
        self.pageSize = pageSize
        mapAddress = bytes.number(24)
        mapSize = bytes.number(32)
        self.free = free
        self.main = main
        lastPage = bytes.number(136)
        transaction = bytes.number(144)
    }

    /// Whether the magic number and the version are those of LMDB 0.9.
    static func isLMDB(_ bytes: [UInt8]) -> Bool {
        bytes.number(16, UInt32.self) == 0xBEEF_C0DE && bytes.number(20, UInt32.self) == 1
    }

    /// The page size, or `nil` if it can't be one (mdb.c: it is the system's page size at creation, at most 64 KiB).
    static func pageSize(_ bytes: [UInt8]) -> Int? {
        let size = Int(bytes.number(40, UInt32.self))
        return (512...65_536).contains(size) && size & (size - 1) == 0 ? size : nil
    }

    /// Why no commit can have written this page; `nil` if a commit may have.
    ///
    /// Ask this only of the newer of the two pages: a writer killed while it writes the older page leaves part of the
    /// next commit there.
    var refusal: String? {
        // mdb.c: the last bit of a commit's number selects the meta page that it writes; both pages begin with number
        // 0.
        if transaction != 0, transaction & 1 != number || transaction >= 1 << 62 {
            return "its commit is \(transaction)"
        }
        // mdb.c: the address is 0 without MDB_FIXEDMAP.
        if mapAddress != 0 || mapSize > Self.addresses { return "its map has \(mapSize) bytes at \(mapAddress)" }
        if lastPage < 1 || lastPage >= mapSize / UInt64(pageSize) {
            return "its last page is \(lastPage), and its map has \(mapSize) bytes"
        }
        for (root, flags, name) in [(free, Self.freeFlags, "free pages"), (main, 0, "the main database")] {
            if root.flags != flags { return "\(name): its flags are \(root.flags)" }
            if let reason = root.refusal(lastPage: lastPage, pageSize: pageSize) { return "\(name): \(reason)" }
        }
        return nil
    }
}
