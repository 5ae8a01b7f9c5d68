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
