/// How long something took, counted in buckets with fixed bounds.
public struct LatencyHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets: 1, 2.5 and 5 of each power of ten, from 1 µs to 1000 s.
    ///
    /// A duration belongs to the first bucket whose bound it does not exceed; the last bucket has no bound.
    public static let bounds: [Duration] = nanoseconds.map { .nanoseconds(Int64($0)) }

    /// How many durations each bucket has: one number for each bound, and one for the longer durations.
    public let counts: [Int]
    /// The sum of all durations.
    public let total: Duration

    /// How many durations were counted.
    public var count: Int {
        cumulative.last?.count ?? 0
    }

    /// The bucket's bounds, each with how many durations do not exceed it; the last has no bound, and counts all.
    package var cumulative: [(bound: Duration?, count: Int)] {
        var sum = 0
        return counts.enumerated().map { (index, count) in
            sum = Int(clamping: UInt(sum) + UInt(count))
            return (index < Self.bounds.count ? Self.bounds[index] : nil, sum)
        }
    }

    package static let nanoseconds: [UInt64] = {
        let powers = (3...11).map { exponent in (0..<exponent).reduce(UInt64(1)) { (power, _) in power * 10 } }
        return powers.flatMap { [$0, $0 / 2 * 5, $0 * 5] } + [1_000_000_000_000]
    }()

    /// The bucket of a duration.
    package static func bucket(of duration: UInt64) -> Int {
        nanoseconds.firstIndex { duration <= $0 } ?? nanoseconds.count
    }
}
