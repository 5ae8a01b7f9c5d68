import SeededRandom
import SharedSpace
import SpaceSystem

/// Latches, one after the other, counted down by workers that are killed, while others wait.
///
/// Each acknowledged count leaves a number that is given once, and is never below 0; a latch opens once it was counted
/// down that often, not before, and then lets all waiters go on.
struct LatchTrial: Trial {
    let name = "latches"
    let ledger: TrialLedger

    private static let times = 24
    private static let latches = 1 << 12

    init() throws { ledger = try TrialLedger(rows: 3 * Self.latches) }

    private var counted: SharedWord64 { ledger.total(2) }
    private var opened: SharedWord64 { ledger.total(3) }
    private var freed: SharedWord64 { ledger.total(4) }
    private var doubled: SharedWord64 { ledger.total(10) }
    private var lost: SharedWord64 { ledger.total(11) }
    private var early: SharedWord64 { ledger.total(12) }
    private var stuck: SharedWord64 { ledger.total(13) }

    var done: [(String, SharedWord64)] { [("counted", counted), ("opened", opened), ("freed", freed)] }
    var faults: [(String, SharedWord64)] { [("doubled", doubled), ("lost", lost), ("early", early), ("stuck", stuck)] }

    // Words of a round: the current latch; for each latch, how often a count was begun and acknowledged, and which
    // remaining numbers were given.
    private var current: SharedWord64 { ledger.word(0) }
    private func begun(_ latch: Int) -> SharedWord64 { ledger.row(3 * latch) }
    private func ended(_ latch: Int) -> SharedWord64 { ledger.row(3 * latch + 1) }
    private func left(_ latch: Int) -> SharedWord64 { ledger.row(3 * latch + 2) }

    func beginRound() { ledger.beginRound() }

    /// The first worker counts to the end, so that no other waits in vain.
    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool {
        worker > 0 && Int.random(in: 0..<4, using: &generator) == 0
    }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        if life.isLast { return try end(life, namespace) }
        for _ in 0..<400 {
            // Read before the look whether the round is over: the first worker then counts this latch down to the end.
            let latch = Int(current.loadSequential())
            guard !life.isOver, latch < Self.latches - 1 else { return }
            if life.isSpared {
                try wait(latch, namespace, life.patience)
            } else if Int.random(in: 0..<8, using: &generator) == 0 {
                _ = try self.latch(latch, namespace).wait(timeout: .milliseconds(1))
            } else {
                try countDown(latch, namespace, life)
            }
        }
    }

    /// Opens the latches that others may wait for, or checks that an open latch lets through.
    private func end(_ life: Life, _ namespace: Namespace) throws {
        let last = Int(current.load())
        if life.worker == 0 {
            while Int(current.load()) == last { try countDown(last, namespace, life) }
        } else if last > 0 {
            try wait(last - 1, namespace, life.patience)
        }
    }

    private func latch(_ number: Int, _ namespace: Namespace) -> SharedLatch {
        namespace.latch("latch \(number)", count: Self.times)
    }

    private func countDown(_ number: Int, _ namespace: Namespace, _ life: Life) throws {
        let latch = latch(number, namespace)
        let turn = begun(number).add(1)
        let rest =
            life.isFaulty && turn % 5 == 2 && !life.isLast ? max(0, try latch.remaining() - 1) : try latch.countDown()
        if !(0..<Self.times).contains(rest) {
            noteFault(doubled, "latch \(number) has \(rest) left")
        } else if left(number).setBits(1 << UInt64(rest)) & 1 << UInt64(rest) != 0, rest > 0 {
            noteFault(doubled, "latch \(number) had \(rest) left twice")
        }
        _ = ended(number).add(1)
        _ = counted.add(1)
        // A worker that finds the latch open moves on too: the one that opened it may have been killed before it could.
        if rest == 0, current.compareExchange(expected: UInt64(number), desired: UInt64(number) + 1).exchanged {
            _ = opened.add(1)
        }
    }

    private func wait(_ number: Int, _ namespace: Namespace, _ patience: Duration) throws {
        let latch = latch(number, namespace)
        guard try latch.wait(timeout: patience) else {
            return noteFault(stuck, "latch \(number) does not open")
        }
        _ = freed.add(1)
        let rest = try latch.remaining()
        if rest != 0 || begun(number).load() < Self.times {
            noteFault(early, "latch \(number) lets through with \(rest) left")
        }
    }

    func judge(_ namespace: Namespace) throws {
        for number in 0..<Self.latches where begun(number).load() > 0 {
            let rest = try latch(number, namespace).remaining()
            let open = Int(begun(number).load() - ended(number).load())
            let said = (0..<Self.times).filter { left(number).load() & 1 << UInt64($0) != 0 }
            if let least = said.min(), least < rest {
                noteFault(lost, "latch \(number) had \(least) left, and has \(rest)")
            }
            // Numbers that were not given to a living worker are the killed workers'.
            let unsaid = (rest..<Self.times).count { $0 > 0 && !said.contains($0) }
            if unsaid > open { noteFault(doubled, "latch \(number) was counted down \(unsaid - open) times too often") }
        }
    }
}
