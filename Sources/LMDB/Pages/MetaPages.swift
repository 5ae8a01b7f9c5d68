import Glibc

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
