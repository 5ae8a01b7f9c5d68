import Glibc

/// The root of a tree, as a meta page or a record of the main database has it (mdb.c: `MDB_db`).
package struct TreeRoot: Equatable, Sendable {
    static let size = 48
    /// mdb.c, `CURSOR_STACK`: a cursor has room for so many levels, and nothing there checks it.
    static let deepest = 32
    private static let none = UInt64.max

    let flags: UInt16
    let depth: Int
    let branchPages: UInt64
    let leafPages: UInt64
    let overflowPages: UInt64
    /// How many records it says that it has.
    package let entries: UInt64
    /// The page; `nil`: the tree is empty.
    package let page: UInt64?

    /// Reads a root; `nil` unless there are exactly so many bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        let bytes = Array(bytes)
        flags = bytes.number(4)
        depth = Int(bytes.number(6, UInt16.self))
        branchPages = bytes.number(8)
        leafPages = bytes.number(16)
        overflowPages = bytes.number(24)
        entries = bytes.number(32)
        let root: UInt64 = bytes.number(40)
        page = root == Self.none ? nil : root
    }

    /// Why no tree of a file with that last page can have this root; `nil`: one can.
    func refusal(lastPage: UInt64, pageSize: Int) -> String? {
        if let page, page < 2 || page > lastPage { return "its root is page \(page)" }
        if depth > Self.deepest || (depth == 0) != (page == nil) { return "its depth is \(depth)" }
        for (count, what) in [(branchPages, "branch"), (leafPages, "leaf"), (overflowPages, "overflow")]
        where count > lastPage {
            return "it has \(count) \(what) pages"
        }
        // mdb.c: a record takes ten bytes at least, the node's header and its offset.
        return entries / 10 > lastPage * UInt64(pageSize) ? "it has \(entries) records" : nil
    }
}

/// A meta page: the roots of one commit.
///
/// mdb.c: 16 bytes of header, then `MDB_meta`: magic number, version, address and size of the map, the roots of the free pages and of
/// the main database, the last page, and the commit's number. All in the machine's byte order.
package struct MetaPage: Sendable {
    static let size = 152
    private static let metaFlag: UInt16 = 8
    /// mdb.c: the table of free pages has `MDB_INTEGERKEY`, the main database nothing.
    private static let freeFlags: UInt16 = 8
    /// x86-64 and arm64 give a process so many bytes of addresses.
    private static let addresses: UInt64 = 1 << 47

    package let number: UInt64
    package let pageSize: Int
    package let mapSize: UInt64
    package let free: TreeRoot
    package let main: TreeRoot
    package let lastPage: UInt64
    package let transaction: UInt64
    private let mapAddress: UInt64

    /// `nil` for bytes that are no meta page of that number: its constant parts are others.
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

    /// mdb.c: the page size is the system's at creation, at most 64 KiB.
    static func pageSize(_ bytes: [UInt8]) -> Int? {
        let size = Int(bytes.number(40, UInt32.self))
        return (512...65_536).contains(size) && size & (size - 1) == 0 ? size : nil
    }

    /// Why no commit has written this; `nil`: one may have.
    ///
    /// Not for the older of the two: a writer that was killed while it wrote there leaves a part of the next commit.
    var refusal: String? {
        // mdb.c: a commit writes the meta page that its number's last bit says; both begin with 0.
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

/// Both meta pages of a data file, as they were at one moment.
///
/// A commit writes one of them, the one that does not count, and its number last. So the one with the higher number counts, and the
/// two numbers follow each other, but for a file in which nothing was ever committed. What else stands there is damage.
struct MetaPages {
    /// The size of a page in bytes, as the meta pages say; the system's, if neither can be read.
    let pageSize: Int
    /// Those that are meta pages, whatever else is wrong with them; the one that counts for LMDB comes first.
    let newestFirst: [MetaPage]
    /// What is wrong with them.
    let faults: [PageFault]
    /// The bytes of both, as far as the file has them.
    let bytes: [[UInt8]?]

    private static let attempts = 64

    /// Reads them, from a regular file.
    init(_ descriptor: CInt) {
        let system = max(sysconf(CInt(_SC_PAGESIZE)), 512)
        func read() -> (bytes: [[UInt8]?], pageSize: Int) {
            let first = PageFile.read(descriptor, MetaPage.size, at: 0)
            // The second page's place depends on the page size. The first page tells it, unless it is damaged: then nothing is there.
            let told = MetaPage(first, number: 0)?.pageSize ?? system
            for size in [told, system] {
                let second = PageFile.read(descriptor, MetaPage.size, at: size)
                if MetaPage(second, number: 1)?.pageSize == size { return ([first, second], size) }
            }
            return ([first, PageFile.read(descriptor, MetaPage.size, at: told)], told)
        }
        // Twice the same: no commit wrote between the two pages, nor within one of them.
        var seen = read()
        var isOfOneMoment = false
        for _ in 0..<Self.attempts where !isOfOneMoment {
            let again = read()
            isOfOneMoment = again.bytes == seen.bytes
            seen = again
        }
        bytes = seen.bytes
        pageSize = seen.pageSize
        var pages: [MetaPage] = []
        var faults: [PageFault] = []
        for (number, bytes) in seen.bytes.enumerated() {
            if let page = MetaPage(bytes, number: UInt64(number)), page.pageSize == seen.pageSize {
                pages.append(page)
            } else {
                faults.append(PageFault(UInt64(number), nil, "it is no meta page"))
            }
        }
        // mdb.c, mdb_env_pick_meta: the first, if they are equal.
        pages.sort { ($0.transaction, $1.number) > ($1.transaction, $0.number) }
        newestFirst = pages
        if isOfOneMoment, let newest = pages.first {
            let loss = "what the last commit did may be missing"
            if let reason = newest.refusal {
                faults.append(
                    PageFault(newest.number, nil, "the last commit's meta page is damaged: \(reason); \(loss)")
                )
            } else if let older = pages.dropFirst().first, !Self.follow(older.transaction, newest.transaction) {
                let text =
                    "the meta pages are of the commits \(older.transaction) and \(newest.transaction), which don't "
                    + "follow each other; one of them is damaged, and \(loss)"
                faults.append(PageFault(newest.number, nil, text))
            }
        }
        self.faults = faults
    }

    private static func follow(_ older: UInt64, _ newest: UInt64) -> Bool {
        newest == 0 || newest - older == 1
    }
}
