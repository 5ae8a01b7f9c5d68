import SeededRandom
import SharedSpace
import SpaceSystem

/// A counter that workers add to, by every operation there is, and are killed, while others wait for it to rise.
///
/// Each adds 1 at a time, so that exactly one of them has had each number; a number that no worker noted was had by a
/// killed worker.
struct CounterTrial: Trial {
    let name = "counters"
    let ledger: TrialLedger
    private let workers: Int

    private static let numbers = 1 << 17

    init(workers: Int) throws {
        self.workers = workers
        ledger = try TrialLedger(rows: workers + Self.numbers / 64)
    }

    private var added: SharedWord64 { ledger.total(2) }
    private var reached: SharedWord64 { ledger.total(3) }
    private var indeterminate: SharedWord64 { ledger.total(4) }
    private var doubled: SharedWord64 { ledger.total(10) }
    private var lost: SharedWord64 { ledger.total(11) }
    private var unexplained: SharedWord64 { ledger.total(12) }
    private var stuck: SharedWord64 { ledger.total(13) }

    var done: [(String, SharedWord64)] { [("added", added), ("reached", reached), ("indeterminate", indeterminate)] }
    var faults: [(String, SharedWord64)] {
        [("doubled", doubled), ("lost", lost), ("unexplained", unexplained), ("stuck", stuck)]
    }

    // Words of a round.
    private var begun: SharedWord64 { ledger.word(0) }
    private var ended: SharedWord64 { ledger.word(1) }
    /// The bound that each worker waits for.
    private func wanted(_ worker: Int) -> SharedWord64 { ledger.row(worker) }
    private func numbers(_ number: Int) -> (word: SharedWord64, bit: UInt64) {
        (ledger.row(workers + number / 64), 1 << UInt64(number % 64))
    }

    func beginRound() { ledger.beginRound() }

    /// The first worker counts to the end, so that no other waits in vain.
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool {
        worker > 0 && Int.random(in: 0..<4, using: &generator) == 0
    }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let counter = namespace.counter("count")
        if life.isLast { return try end(life, counter) }
        for _ in 0..<400 where !life.isOver {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...4: try add(counter, life)
            case 5, 6: try addComparing(counter)
            default:
                if life.isSpared {
                    try wait(counter, life)
                } else {
                    _ = try counter.wait(forAtLeast: try counter.value() + 2, timeout: .milliseconds(1))
                }
            }
        }
    }

    /// Counts up to the bounds that others may wait for, or once.
    private func end(_ life: Life, _ counter: SharedCounter) throws {
        repeat {
            try add(counter, life)
        } while try life.worker == 0
            && counter.value() < (0..<workers).map { Int(wanted($0).loadSequential()) }.max() ?? 0
    }

    private func add(_ counter: SharedCounter, _ life: Life) throws {
        let turn = begun.add(1)
        let isLeftOut = life.isFaulty && turn % 20 == 7 && !life.isLast
        note(isLeftOut ? try counter.value() + 1 : try counter.add())
        _ = ended.add(1)
    }

    private func addComparing(_ counter: SharedCounter) throws {
        _ = begun.add(1)
        let before = try counter.value()
        if try counter.set(before + 1, ifEquals: before) { note(before + 1) }
        _ = ended.add(1)
    }

    private func note(_ number: Int) {
        _ = added.add(1)
        guard (1..<Self.numbers).contains(number) else { return noteFault(unexplained, "it counts \(number)") }
        let (word, bit) = numbers(number)
        if word.setBits(bit) & bit != 0 { noteFault(doubled, "two have counted \(number)") }
    }

    private func wait(_ counter: SharedCounter, _ life: Life) throws {
        let bound = try counter.value() + 10
        wanted(life.worker).storeSequential(UInt64(bound))
        // The first worker reads the bounds after the round's end: a worker with a later bound must not wait for it.
        guard !life.isOver else { return }
        guard let number = try counter.wait(forAtLeast: bound, timeout: life.patience) else {
            return noteFault(stuck, "it does not count up to \(bound)")
        }
        _ = reached.add(1)
        if number < bound { noteFault(unexplained, "\(bound) is reached with \(number)") }
    }

    func judge(_ namespace: Namespace) throws {
        let value = try namespace.counter("count").value()
        let open = Int(begun.load() - ended.load())
        _ = indeterminate.add(UInt64(open))
        var unsaid = 0
        for number in 1..<Self.numbers {
            let (word, bit) = numbers(number)
            let isSaid = word.load() & bit != 0
            if isSaid, number > value { noteFault(lost, "somebody has counted \(number), and it is \(value)") }
            if !isSaid, number <= value { unsaid += 1 }
        }
        if unsaid > open {
            noteFault(unexplained, "it counts \(value), and \(unsaid - open) of that nobody has counted")
        }
    }
}
