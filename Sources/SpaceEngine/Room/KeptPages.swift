/// How many pages are kept for removals, and how many of them a transaction leaves alone.
///
/// What a removal changes depends on the depth of the trees and on the number of indexes, more than on the file's pages; and
/// the pages that it frees can be used by the next but one.
struct KeptPages {
    /// How many are kept in a large file.
    let most: Int
    /// How many pages the rows take that claimed tuples get in the indexes when they return.
    private let returned: Int

    /// The fewest that are kept in a file of a few pages.
    private static let fewest = 64
    /// What a removal of one tuple changes, and what each index adds to that: twice a path of four pages, twice.
    private static let (removal, index) = (96, 16)
    /// A row in the index with what LMDB adds to it, in pages that are half full.
    private static let returnedRowBytes = 2 * 28

    /// - Parameters:
    ///   - pageSize: The bytes of a page.
    ///   - shapes: How many shapes have an index.
    ///   - hidden: How many tuples are claimed, buried or resting.
    @inline(__always)
    init(pageSize: Int, shapes: Int, hidden: UInt64 = 0) {
        most = max(Limits.removalReserve / pageSize, 4 * (Self.removal + Self.index * shapes))
        returned = Int(clamping: hidden) &* shapes &* Self.returnedRowBytes / pageSize
    }

    /// How many are kept if the pages before `end` are used.
    @inline(__always)
    func pages(beside end: Int) -> Int { min(most, max(Self.fewest, 2 * end)) }

    /// How many of them a transaction leaves alone.
    @inline(__always)
    func pages(for purpose: WritePurpose, beside end: Int) -> Int {
        switch purpose {
        case .adding: pages(beside: end) + returned
        case .loading: pages(beside: end) * 7 / 8
        case .claiming: pages(beside: end) / 2
        case .returning: pages(beside: end) / 4
        case .removing, .applying: 0
        }
    }
}
