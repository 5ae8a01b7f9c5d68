import Glibc

/// A data file whose pages are read one by one, without LMDB: nothing is mapped, so no page can end the process.
///
/// The descriptor is the caller's, open for reading as long as this is used.
package struct PageFile {
    private let descriptor: CInt
    /// The size of a page in bytes, as the meta pages say; the system's, if neither can be read.
    package let pageSize: Int
    /// The meta pages that can be read, the newest first.
    package let metas: [MetaPage]
    /// What is wrong with the meta pages.
    package let faults: [PageFault]
    /// How many whole pages the file has, holes at its end left out.
    package let pageCount: UInt64

    /// Reads the meta pages.
    ///
    /// - Throws: An errno; `.invalid` for what is no regular file.
    package init(_ descriptor: CInt) throws(LMDBError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalid }
        var metas: [MetaPage] = []
        var faults: [PageFault] = []
        let system = max(sysconf(CInt(_SC_PAGESIZE)), 512)
        // The second page's place depends on the page size, which the first page tells if it is whole.
        let firstBytes = Self.read(descriptor, MetaPage.size, at: 0)
        let size = MetaPage.pageSize(firstBytes, number: 0) ?? system
        let secondBytes = Self.read(descriptor, MetaPage.size, at: size)
        for (number, bytes) in [firstBytes, secondBytes].enumerated() {
            if MetaPage.pageSize(bytes, number: UInt64(number)) != size {
                faults.append(PageFault(UInt64(number), nil, "it is no meta page"))
            } else if let meta = MetaPage(bytes, number: UInt64(number)) {
                metas.append(meta)
            }
        }
        // A writer that was killed while it wrote a meta page leaves one that makes no sense, and the other counts.
        if metas.isEmpty, faults.isEmpty { faults.append(PageFault(0, nil, "neither meta page makes sense")) }
        self.descriptor = descriptor
        self.metas = metas.sorted { $0.transaction > $1.transaction }
        self.faults = faults
        pageSize = size
        // lseek(2), SEEK_HOLE and SEEK_DATA: Swift's Glibc module hides the names.
        var end: off_t = 0
        while true {
            let data = lseek(descriptor, end, 3)
            guard data >= 0 else { break }
            let hole = lseek(descriptor, data, 4)
            guard hole > data else { break }
            end = hole
        }
        pageCount = UInt64(min(end, status.st_size)) / UInt64(size)
    }

    /// The bytes of some pages; `nil` if the file ends before, or they can't be read.
    package func bytes(_ number: UInt64, pages: Int = 1) -> [UInt8]? {
        let (size, overflow) = pageSize.multipliedReportingOverflow(by: pages)
        // A hole that lies among the pages in use reads as zeros, and so does one at the end.
        guard !overflow, size > 0, number < UInt64(1) << 47 else { return nil }
        return Self.read(descriptor, size, at: Int(number) * pageSize)
    }

    private static func read(_ descriptor: CInt, _ count: Int, at offset: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = 0
            while filled < count {
                let got = pread(
                    descriptor,
                    buffer.baseAddress.map { $0 + filled },
                    count - filled,
                    off_t(offset + filled)
                )
                if got < 0, errno == EINTR { continue }
                guard got > 0 else { break }
                filled += got
            }
        }
        return bytes.count == count ? bytes : nil
    }
}

/// What is wrong with a page.
package struct PageFault: Hashable, Sendable {
    package let page: UInt64
    /// The table that the page belongs to, if that is known.
    package let table: String?
    package let reason: String

    package init(_ page: UInt64, _ table: String?, _ reason: String) {
        self.page = page
        self.table = table
        self.reason = reason
    }
}

/// The root of a tree, as a meta page or a record of the main database has it (mdb.c: `MDB_db`).
package struct TreeRoot: Equatable, Sendable {
    static let size = 48
    private static let none = UInt64.max

    let depth: Int
    /// How many records it says that it has.
    package let entries: UInt64
    /// The page; `nil`: the tree is empty.
    package let page: UInt64?

    /// Reads a root; `nil` unless there are exactly so many bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Self.size else { return nil }
        let bytes = Array(bytes)
        depth = Int(bytes.number(6, UInt16.self))
        entries = bytes.number(32)
        let root: UInt64 = bytes.number(40)
        page = root == Self.none ? nil : root
    }
}

/// A meta page: the roots of one commit.
package struct MetaPage: Sendable {
    static let size = 152
    private static let metaFlag: UInt16 = 8

    package let pageSize: Int
    package let mapSize: UInt64
    package let free: TreeRoot
    package let main: TreeRoot
    package let lastPage: UInt64
    package let transaction: UInt64

    /// The page size that a meta page names; `nil` if the bytes are none, whose constant parts no writer changes.
    static func pageSize(_ bytes: [UInt8]?, number: UInt64) -> Int? {
        guard let bytes, bytes.count >= Self.size, bytes.number(0) == number,
            bytes.number(10, UInt16.self) & Self.metaFlag != 0,
            bytes.number(16, UInt32.self) == 0xBEEF_C0DE, bytes.number(20, UInt32.self) == 1
        else { return nil }
        let size = Int(bytes.number(40, UInt32.self))
        return (512...65_536).contains(size) && size & (size - 1) == 0 ? size : nil
    }

    /// `nil` unless everything in it can be so.
    init?(_ bytes: [UInt8]?, number: UInt64) {
        guard let bytes, let pageSize = Self.pageSize(bytes, number: number),
            let free = TreeRoot(bytes[40..<88]), let main = TreeRoot(bytes[88..<136])
        else { return nil }
        self.pageSize = pageSize
        mapSize = bytes.number(32)
        self.free = free
        self.main = main
        lastPage = bytes.number(136)
        transaction = bytes.number(144)
        guard (1..<1 << 40).contains(lastPage),
            // mdb.c: a commit writes the meta page that its number's last bit says; both begin with 0.
            transaction == 0 || transaction & 1 == number,
            [free, main].allSatisfy({ $0.page.map { (2...lastPage).contains($0) } ?? true })
        else { return nil }
    }
}

extension [UInt8] {
    /// An unaligned integer in the machine's byte order, as LMDB has them; the caller has checked the bounds.
    func number<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        precondition(offset >= 0 && offset + MemoryLayout<I>.size <= count)
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: I.self) }
    }
}
