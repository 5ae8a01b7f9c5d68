/// Freed pages that can be used again.
package struct FreePages: Equatable, Sendable {
    /// How many.
    package var count: Int
    /// How many of them lie in a row, at most.
    package var longestRun: Int
    /// In how many lists they stand.
    package var lists: Int

    package init(count: Int, longestRun: Int, lists: Int) {
        (self.count, self.longestRun, self.lists) = (count, longestRun, lists)
    }
}
