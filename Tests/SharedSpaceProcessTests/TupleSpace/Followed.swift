import SpaceTestSupport

/// A watcher's account of the changes that it was told: the answer to the agent's `follow`.
struct Followed: Equatable {
    let received: Int
    let missed: UInt64
    let gaps: Int
    let first: UInt64
    let last: UInt64
    /// A hash over a line for each change, in order.
    let hash: UInt64

    init(_ answer: String?) throws {
        let words = (answer ?? "").split(separator: " ").drop { $0 == "ok" }
        let numbers = words.compactMap { UInt64($0) }
        guard numbers.count == 6, words.count == 6 else { throw TestFailure("a watcher says: \(answer ?? "nothing")") }
        (received, missed, gaps) = (Int(numbers[0]), numbers[1], Int(numbers[2]))
        (first, last, hash) = (numbers[3], numbers[4], numbers[5])
    }
}
