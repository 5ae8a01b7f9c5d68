import SeededRandom
import SharedSpace
import SpaceSystem

/// A rate limit that workers acquire from, by every operation there is, and are killed, also while they wait for their
/// moment.
///
/// The ledger has when each acquisition began and ended; the moment it got lies between. So the number of acquisitions
/// that lie within an interval is at most the limit, and in a longer time at most the limit times the intervals that
/// cover it.
struct RateTrial: Trial {
    let name = "rates"
    let ledger: TrialLedger

    private static let limit = 10
    private static let interval = Duration.milliseconds(20)
    private static let rows = 1 << 14

    init() throws { ledger = try TrialLedger(rows: 3 * Self.rows) }

    private var acquired: SharedWord64 { ledger.total(2) }
    private var refused: SharedWord64 { ledger.total(3) }
    private var cancelled: SharedWord64 { ledger.total(4) }
    private var over: SharedWord64 { ledger.total(10) }
    private var stuck: SharedWord64 { ledger.total(11) }

    var done: [(String, SharedWord64)] { [("acquired", acquired), ("refused", refused), ("cancelled", cancelled)] }
    var faults: [(String, SharedWord64)] { [("over", over), ("stuck", stuck)] }

    private var next: SharedWord64 { ledger.word(0) }

    func beginRound() { ledger.beginRound() }

    /// Half of the workers live on: a killed worker uses up moments that the ledger does not know of.
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool { worker % 2 == 0 }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let rate = namespace.rateLimit("rate", limit: Self.limit, per: Self.interval)
        if life.isLast { return try note(1) { try acquire(rate, 1, life) } }
        while !life.isOver {
            let number = Int.random(in: 1...3, using: &generator)
            let way = Int.random(in: 0..<8, using: &generator)
            let time = Duration.microseconds(Int.random(in: 0...4000, using: &generator))
            try note(number) {
                if life.isFaulty { return true }
                switch way {
                case 0, 1: return try rate.tryAcquire(number)
                case 2, 3: return try rate.acquire(number, timeout: time)
                case 4: return try runTask { try await Self.acquire(rate, number, cancelledAfter: time) }
                default: return try acquire(rate, number, life)
                }
            }
            if way == 4 { _ = cancelled.add(1) }
        }
    }

    private func acquire(_ rate: RateLimit, _ number: Int, _ life: Life) throws -> Bool {
        let isAcquired = try rate.acquire(number, timeout: life.patience)
        if !isAcquired { noteFault(stuck, "nothing is to be had within \(life.patience)") }
        return isAcquired
    }

    private static func acquire(_ rate: RateLimit, _ number: Int, cancelledAfter time: Duration) async throws -> Bool {
        let task = Task { try await rate.acquire(number) }
        try await Task.sleep(for: time)
        task.cancel()
        do {
            try await task.value
            return true
        } catch let error as SpaceError where error.code == .cancelled {
            return false
        }
    }

    private func note(_ number: Int, _ acquire: () throws -> Bool) throws {
        let begin = MonotonicInstant.now
        guard try acquire() else {
            _ = refused.add(1)
            return
        }
        let end = MonotonicInstant.now
        let row = Int(next.add(1))
        guard row < Self.rows else { return }
        ledger.row(3 * row).store(UInt64(begin.nanoseconds))
        ledger.row(3 * row + 1).store(UInt64(end.nanoseconds))
        // Written last: until then there is no acquisition.
        ledger.row(3 * row + 2).store(UInt64(number))
        _ = acquired.add(UInt64(number))
    }

    func judge(_ namespace: Namespace) throws {
        let all = (0..<min(Int(next.load()), Self.rows)).compactMap { row -> (begin: Int, end: Int, number: Int)? in
            let number = Int(ledger.row(3 * row + 2).load())
            return number == 0 ? nil : (Int(ledger.row(3 * row).load()), Int(ledger.row(3 * row + 1).load()), number)
        }
        let ordered = all.sorted { $0.end < $1.end }
        let interval = Int(Self.interval / .nanoseconds(1))
        // The namespace's clock counts milliseconds, and an acquisition that passes at once does so before the next
        // millisecond.
        let clock = 2_000_000
        // From some of the beginnings on: a rate that is exceeded is exceeded from many of them.
        for first in stride(from: 0, to: all.count, by: max(1, all.count / 100)) {
            let begin = all[first].begin
            var sum = 0
            for one in ordered where one.begin >= begin {
                sum += one.number
                if sum > Self.limit * ((one.end - begin + clock) / interval + 1) {
                    noteFault(
                        over,
                        "\(sum) within \((one.end - begin) / 1000) µs, of \(Self.limit) in \(Self.interval)"
                    )
                    break
                }
            }
        }
    }
}
