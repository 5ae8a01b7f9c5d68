import Glibc

/// Both meta pages of a data file, as they were at one moment.
///
/// LMDB uses the meta page with the higher commit number. A commit overwrites the other page, and writes the commit
/// number last. So the two numbers are consecutive, or both are 0 if nothing was ever committed; any other pair of
/// numbers shows damage.
struct MetaPages {
    /// The size of a page in bytes, as the meta pages state it; the system's page size if neither can be read.
    let pageSize: Int
    /// The pages that are meta pages, even if damaged; the page that LMDB uses comes first.
    let newestFirst: [MetaPage]
    /// What is wrong with the meta pages.
    let faults: [PageFault]
    /// The bytes of both pages; `nil` for a page that could not be read.
    let bytes: [[UInt8]?]

    private static let attempts = 64

    /// Reads both meta pages from a regular file.
    init(_ descriptor: CInt) {
        let system = max(sysconf(CInt(_SC_PAGESIZE)), 512)
        func read() -> (bytes: [[UInt8]?], pageSize: Int) {
            let first = PageFile.read(descriptor, MetaPage.size, at: 0)
            // The second page's place depends on the page size, which the first page states. If the first page is
            // damaged, the system's page size is tried.
            let told = MetaPage(first, number: 0)?.pageSize ?? system
            for size in [told, system] {
                let second = PageFile.read(descriptor, MetaPage.size, at: size)
                if MetaPage(second, number: 1)?.pageSize == size { return ([first, second], size) }
            }
            return ([first, PageFile.read(descriptor, MetaPage.size, at: told)], told)
        }
        // If two reads give the same bytes, no commit wrote between the reads of the two pages, or during one of them.
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
                faults.append(PageFault(UInt64(number), nil, "it is not a meta page"))
            }
        }
        // mdb.c, mdb_env_pick_meta: if both have the same commit number, LMDB uses the first page.
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
                    "the meta pages are of the commits \(older.transaction) and \(newest.transaction), which are not "
                    + "consecutive; one of them is damaged, and \(loss)"
                faults.append(PageFault(newest.number, nil, text))
            }
        }
        self.faults = faults
    }

    private static func follow(_ older: UInt64, _ newest: UInt64) -> Bool {
        newest == 0 || newest - older == 1
    }
}
