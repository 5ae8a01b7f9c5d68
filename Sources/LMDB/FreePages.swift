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

    /// The length of the longest run of set bits, from the lowest bit of the first word on.
    static func longestRun(in words: [UInt64]) -> Int {
        var (longest, run) = (0, 0)
        for word in words {
            var (rest, left) = (word, UInt64.bitWidth)
            while left > 0 {
                let ones = (~rest).trailingZeroBitCount
                run += ones
                if run > longest { longest = run }
                rest >>= UInt64(ones)
                left -= ones
                guard left > 0 else { break }
                run = 0
                let zeros = rest == 0 ? left : rest.trailingZeroBitCount
                rest >>= UInt64(zeros)
                left -= zeros
            }
        }
        return longest
    }
}
