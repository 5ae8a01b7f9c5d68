import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem

/// A barrier for as many parties as there are workers, which are killed while they wait, and replaced.
///
/// So each worker's place is in every group that has passed, once. For each place the ledger knows in how many groups
/// it was at least, and at most: a waiting worker may have been let through already, and so may a worker that was
/// killed while it waited, unless the numbers of all places rule that out. No worker may have passed more groups than
/// every other place can have been in.
struct BarrierTrial: Trial {
    let name = "barriers"
    let ledger: TrialLedger
    private let workers: Int

    init(workers: Int) throws {
        self.workers = workers
        ledger = try TrialLedger(rows: workers)
    }

    private var passed: SharedWord64 { ledger.total(2) }
    private var givenUp: SharedWord64 { ledger.total(3) }
    private var killedWaiting: SharedWord64 { ledger.total(4) }
    private var early: SharedWord64 { ledger.total(10) }
    private var stuck: SharedWord64 { ledger.total(11) }

    var done: [(String, SharedWord64)] { [("passed", passed), ("givenUp", givenUp), ("killedWaiting", killedWaiting)] }
    var faults: [(String, SharedWord64)] { [("early", early), ("stuck", stuck)] }

    // Words of a round.
    private var readyForLast: SharedWord64 { ledger.word(0) }
    /// Changed by the worker while it lives, and afterwards by the process that has reaped it.
    private func place(_ worker: Int) -> Place { Place(ledger.row(worker).loadSequential()) }
    private func store(_ place: Place, _ worker: Int) { ledger.row(worker).storeSequential(place.word) }

    /// In how many groups a worker's place was: in one word, so that a kill can't separate the two numbers.
    private struct Place {
        var atLeast: UInt64
        var atMost: UInt64
        var isWaiting: Bool

        init(_ word: UInt64) {
            atLeast = word >> 32
            atMost = word >> 1 & 0x7FFF_FFFF
            isWaiting = word & 1 == 1
        }

        var word: UInt64 { atLeast << 32 | atMost << 1 | (isWaiting ? 1 : 0) }
    }

    func beginRound() { ledger.beginRound() }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        var own = place(life.worker)
        // The place was part of every group that other places have passed.
        own.atLeast = max(own.atLeast, (0..<workers).map { place($0).atLeast }.max() ?? 0)
        own.atMost = max(own.atMost, own.atLeast)
        store(own, life.worker)
        let barrier = namespace.barrier("step", parties: workers)
        if life.isLast {
            // A worker that is still in its last life but one would take a turn that the others count on.
            _ = readyForLast.add(1)
            let limit = MonotonicInstant.now.advanced(by: life.patience * 4)
            while readyForLast.load() < UInt64(workers), !limit.hasPassed { usleep(200) }
            return try wait(barrier, life, isShort: false)
        }
        while !life.isOver {
            if Int.random(in: 0..<4, using: &generator) == 0 { usleep(UInt32.random(in: 0...500, using: &generator)) }
            try wait(barrier, life, isShort: Int.random(in: 0..<4, using: &generator) == 0)
        }
    }

    private func wait(_ barrier: SharedBarrier, _ life: Life, isShort: Bool) throws {
        var own = place(life.worker)
        own.atMost += 1
        own.isWaiting = true
        store(own, life.worker)
        let isPassed = try life.isFaulty || barrier.wait(timeout: isShort ? .milliseconds(1) : life.patience)
        own.isWaiting = false
        if isPassed { own.atLeast += 1 } else { own.atMost -= 1 }
        store(own, life.worker)
        guard isPassed else {
            _ = givenUp.add(1)
            if !isShort { noteFault(stuck, "worker \(life.worker) is not let through") }
            return
        }
        _ = passed.add(1)
        for other in 0..<workers where place(other).atMost < own.atLeast {
            noteFault(early, "worker \(life.worker) has passed \(own.atLeast) times, worker \(other) never so often")
        }
    }

    func bury(_ worker: Int) {
        var own = place(worker)
        guard own.isWaiting else { return }
        _ = killedWaiting.add(1)
        own.isWaiting = false
        // The worker is dead: a group that is not complete by now is completed without it.
        let complete = (0..<workers).filter { $0 != worker }.map { place($0).atMost }.min() ?? 0
        own.atMost = max(own.atLeast, min(own.atMost, complete))
        store(own, worker)
    }

    func judge(_ namespace: Namespace) throws {
        let places = (0..<workers).map(place)
        let (least, most) = (places.map(\.atLeast).max() ?? 0, places.map(\.atMost).min() ?? 0)
        if least > most { noteFault(early, "\(least) groups have passed, and there were \(most) at most") }
    }
}
