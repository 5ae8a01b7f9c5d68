import CLMDB

/// The size and shape of a database's tree.
package struct Statistics: Equatable, Sendable {
    /// The size of a page in bytes.
    package let pageSize: Int
    /// The height of the tree; 0 if it is empty.
    package let depth: Int
    /// The number of pages that only refer to other pages.
    package let branchPages: Int
    /// The number of pages with records.
    package let leafPages: Int
    /// The number of pages with values too large for a leaf.
    package let overflowPages: Int
    /// The number of records.
    package let entries: Int

    /// The number of all pages of the tree.
    package var pages: Int {
        // The numbers come from the file, so the sum may overflow.
        branchPages &+ leafPages &+ overflowPages
    }
}

extension Statistics {
    init(_ statistics: MDB_stat) {
        // The numbers come from the file, so no conversion may trap.
        pageSize = Int(statistics.ms_psize)
        depth = Int(statistics.ms_depth)
        branchPages = Int(truncatingIfNeeded: statistics.ms_branch_pages)
        leafPages = Int(truncatingIfNeeded: statistics.ms_leaf_pages)
        overflowPages = Int(truncatingIfNeeded: statistics.ms_overflow_pages)
        entries = Int(truncatingIfNeeded: statistics.ms_entries)
    }
}
