import Glibc

/// A data file whose pages are read one by one, without LMDB: nothing is mapped, so a damaged page can't end the
/// process.
///
/// The caller owns the descriptor, and keeps it open for reading as long as it uses this value.
package struct PageFile {
    private let descriptor: CInt
    /// The size of a page in bytes, as the meta pages state it; the system's page size if neither can be read.
    package let pageSize: Int
    /// The meta pages that can be read; the last commit's comes first.
    package let metas: [MetaPage]
    /// Whether the first of ``metas`` is certainly the last commit's.
    package let isOrderCertain: Bool
    /// What is wrong with the meta pages.
    package let faults: [PageFault]
    /// How many whole pages the file has, without holes at its end.
    package let pageCount: UInt64

    /// Reads the meta pages.
    ///
    /// - Throws: An errno; `.invalid` if the file is not a regular one.
    package init(_ descriptor: CInt) throws(LMDBError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw LMDBError(code: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .invalid }
        let metas = MetaPages(descriptor)
        self.descriptor = descriptor
        self.metas = metas.newestFirst
        faults = metas.faults
        isOrderCertain = metas.faults.isEmpty
        pageSize = metas.pageSize
        let size = metas.pageSize
        // lseek(2): 3 is SEEK_DATA and 4 is SEEK_HOLE; Swift's Glibc module hides the names.
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

    /// The bytes of some pages; `nil` if the file ends before them or they can't be read.
    package func bytes(_ number: UInt64, pages: Int = 1) -> [UInt8]? {
        let (size, overflow) = pageSize.multipliedReportingOverflow(by: pages)
        // A hole reads as zeros, both between pages in use and at the end of the file.
        guard !overflow, size > 0, number < UInt64(1) << 47 else { return nil }
        return Self.read(descriptor, size, at: Int(number) * pageSize)
    }

    /// Reads exactly `count` bytes at `offset`; `nil` if the file ends before them or they can't be read.
    static func read(_ descriptor: CInt, _ count: Int, at offset: Int) -> [UInt8]? {
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
