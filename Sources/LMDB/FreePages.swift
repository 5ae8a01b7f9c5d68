import CGuardedLMDB

/// Freed pages that can be used again.
package struct FreePages: Equatable, Sendable {
    /// The number of pages.
    package var count: Int
    /// The length of the longest run of consecutive pages.
    package var longestRun: Int
    /// The number of lists that name them.
    package var lists: Int

    package init(count: Int, longestRun: Int, lists: Int) {
        (self.count, self.longestRun, self.lists) = (count, longestRun, lists)
    }
}

/// The free pages that a write transaction has read from their lists and not taken yet.
package struct ReadFreePages {
    /// Their numbers; valid until the transaction changes something.
    let pages: UnsafeBufferPointer<Int>
    /// The transaction whose list was read last; 0: none.
    let lastList: UInt
}

extension Access {
    /// The free pages that this write transaction has read and not taken yet; `nil` if that can't be read from this liblmdb.
    ///
    /// LMDB has no function for it. They are in the environment's structure (`bounds.c` says how they are found).
    package var readFreePages: ReadFreePages? {
        var left = guarded_free_pages()
        guard isWriting, guarded_reclaimed(guarding, handle, &left) else { return nil }
        return ReadFreePages(
            pages: UnsafeBufferPointer(start: left.pages, count: left.count),
            lastList: UInt(left.last_list)
        )
    }
}
