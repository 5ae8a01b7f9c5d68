import CGuardedLMDB

/// What a write transaction has done with pages so far.
package struct UsedPages: Equatable, Sendable {
    /// The first page that neither a commit nor the transaction has used.
    package var next: Int
    /// How many pages of the last commit the transaction no longer uses.
    package var freed: Int
    /// How many times the transaction has taken pages: one for a tree, or those of one value; never too low, except that
    /// values which were freed again don't count.
    package var taken: Int

    package init(next: Int, freed: Int, taken: Int) { (self.next, self.freed, self.taken) = (next, freed, taken) }
}

extension Access {
    /// What this write transaction has done with pages so far; `nil` if that can't be read from this liblmdb.
    ///
    /// LMDB has no function for it. The number is in the transaction's structure (`bounds.c` says how it is found).
    ///
    /// - Complexity: O(1): some reads of memory.
    package var usedPages: UsedPages? {
        var pages = guarded_pages()
        guard isWriting, guarded_count_pages(guarding, handle, &pages) else { return nil }
        return UsedPages(
            next: Int(truncatingIfNeeded: pages.next),
            freed: Int(truncatingIfNeeded: pages.freed),
            taken: Int(truncatingIfNeeded: pages.taken)
        )
    }
}
