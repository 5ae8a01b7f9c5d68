import Glibc
import SeededRandom
import SharedSpace
import SpaceInspection
import SpaceSystem

/// A semaphore whose number of permits is set, raised, lowered and taken back while workers that are killed hold permits and
/// wait for them.
///
/// A wish for more than there are is refused, and holds up no other. In every state that the process which lives through the
/// round sees, no process waits for permits that it could have; and at the end every worker gets what it asks for.
struct PermitTrial: Trial {
    let name = "permits"
    let ledger: TrialLedger

    private static let given = 4

    init() throws { ledger = try TrialLedger(rows: 1) }

    private var held: SharedWord64 { ledger.total(2) }
    private var set: SharedWord64 { ledger.total(3) }
    private var refused: SharedWord64 { ledger.total(4) }
    private var unexplained: SharedWord64 { ledger.total(10) }
    private var besides: SharedWord64 { ledger.total(11) }
    private var stuck: SharedWord64 { ledger.total(12) }

    var done: [(String, SharedWord64)] { [("held", held), ("set", set), ("refused", refused)] }
    var faults: [(String, SharedWord64)] { [("unexplained", unexplained), ("besides", besides), ("stuck", stuck)] }

    func beginRound() { ledger.beginRound() }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let semaphore = namespace.semaphore("permits", permits: Self.given)
        if life.isLast {
            try semaphore.remove()
            guard let hold = try semaphore.acquire(2, timeout: life.patience) else {
                return noteFault(stuck, "2 of \(Self.given) permits are not to be had")
            }
            return try hold.release()
        }
        for _ in 0..<200 where !life.isOver {
            switch Int.random(in: 0..<8, using: &generator) {
            case 0:
                try semaphore.setPermits(Int.random(in: 1...6, using: &generator))
                _ = set.add(1)
            case 1: try semaphore.remove()
            default:
                let count = Int.random(in: 1...Self.given, using: &generator)
                let timeout = Duration.milliseconds(Int.random(in: 0...6, using: &generator))
                do throws(SpaceError) {
                    guard let hold = try semaphore.acquire(count, timeout: timeout) else { continue }
                    try hold.release()
                    _ = held.add(1)
                } catch {
                    switch error.code {
                    // A number can have been set that is smaller, but not than 1.
                    case .invalidArgument where count > 1: _ = refused.add(1)
                    default: noteFault(unexplained, "\(count) permits: \(error)")
                    }
                }
            }
        }
    }

    func attend(_ namespace: Namespace) throws {
        let damage = try namespace.core.read { (snapshot) throws(SpaceError) in
            try snapshot.damageInHolds(try snapshot.counters())
        }
        for text in damage { noteFault(besides, "\(text)") }
        usleep(5000)
    }

    func judge(_ namespace: Namespace) throws {
        let semaphore = namespace.semaphore("permits", permits: Self.given)
        try semaphore.remove()
        guard let hold = try semaphore.tryAcquire(Self.given) else {
            return noteFault(stuck, "not all permits are free at the end")
        }
        try hold.release()
    }
}
