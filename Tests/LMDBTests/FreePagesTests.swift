import SeededRandom
import Testing

@testable import LMDB

@Suite struct FreePagesTests {
    /// Words in which runs begin, end and go on over their borders, beside an obvious count.
    @Test func theLongestRunIsFound() {
        var random = SeededGenerator(seed: 7)
        for length in 0..<200 {
            let words = (0..<length % 9).map { _ in
                switch Int.random(in: 0..<5, using: &random) {
                case 0: UInt64(0)
                case 1: UInt64.max
                case 2: UInt64.max << UInt64.random(in: 0..<64, using: &random)
                case 3: UInt64.max >> UInt64.random(in: 0..<64, using: &random)
                default: UInt64.random(in: 0...(.max), using: &random)
                }
            }
            var (longest, run) = (0, 0)
            for bit in 0..<64 * words.count {
                run = words[bit / 64] >> UInt64(bit % 64) & 1 == 1 ? run + 1 : 0
                longest = max(longest, run)
            }
            #expect(FreePages.longestRun(in: words) == longest, "\(words)")
        }
    }
}
