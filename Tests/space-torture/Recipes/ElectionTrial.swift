import Glibc
import SeededRandom
import SharedSpace
import SpaceSystem
import Synchronization

/// Candidates that lead in turn, and are killed while they stand and while they lead; some are deposed.
///
/// Two candidates never lead at once unless one was deposed; terms rise. A deposed leader is told, and a candidate
/// comes to lead in time.
struct ElectionTrial: Trial {
    let name = "elections"
    let ledger: TrialLedger

    private static let places = 256
    private static let terms = 1 << 12

    init() throws { ledger = try TrialLedger(rows: Self.places + Self.terms) }

    private var led: SharedWord64 { ledger.total(2) }
    private var deposed: SharedWord64 { ledger.total(3) }
    private var told: SharedWord64 { ledger.total(4) }
    private var overlaps: SharedWord64 { ledger.total(10) }
    private var unfenced: SharedWord64 { ledger.total(11) }
    private var unheard: SharedWord64 { ledger.total(12) }
    private var stuck: SharedWord64 { ledger.total(13) }

    var done: [(String, SharedWord64)] { [("terms", led), ("deposed", deposed), ("told", told)] }
    var faults: [(String, SharedWord64)] {
        [("overlaps", overlaps), ("unfenced", unfenced), ("unheard", unheard), ("stuck", stuck)]
    }

    // Words of a round.
    private var lastTerm: SharedWord64 { ledger.word(0) }
    /// The term of a leader that wants to be deposed.
    private var offered: SharedWord64 { ledger.word(1) }
    private func mark(_ term: UInt64) -> SharedWord64 { ledger.row(Self.places + Int(term % UInt64(Self.terms))) }

    func beginRound() { ledger.beginRound() }

    func spares(_ worker: Int, _ generator: inout SeededGenerator) -> Bool {
        Int.random(in: 0..<4, using: &generator) == 0
    }

    func live(_ life: Life, _ namespace: Namespace, _ generator: inout SeededGenerator) throws {
        let election = namespace.election("leader")
        for _ in 0..<(life.isLast ? 1 : 100) where life.isLast || !life.isOver {
            let isOffered = !life.isLast && Int.random(in: 0..<8, using: &generator) == 0
            if life.isFaulty {
                lead(life, 0)
                usleep(200)
                places(life).leave(life.worker)
            } else {
                try stand(election, life, isOffered: isOffered)
            }
        }
    }

    private func stand(_ election: Election, _ life: Life, isOffered: Bool) throws {
        let loss = Loss()
        guard let leadership = try leadership(of: election, life, loss) else { return }
        let term = leadership.fencing
        lead(life, term)
        if isOffered { try awaitDeposing(leadership, loss, life) }
        places(life).leave(life.worker)
        do throws(SpaceError) {
            try leadership.release()
        } catch {
            guard error.code == .holdLost else { throw error }
            if !isDeposed(term) { noteFault(unheard, "term \(term) was lost, and nobody deposed it") }
        }
    }

    private func leadership(of election: Election, _ life: Life, _ loss: Loss) throws -> Hold? {
        let leadership = try election.stand(as: life.worker, timeout: life.patience) { _ in loss.note() }
        guard let leadership else {
            let leader = try election.leader().map { "process \($0.pid ?? 0) leads" } ?? "nobody leads"
            noteFault(stuck, "candidate \(life.worker) does not come to lead: \(leader)")
            return nil
        }
        return leadership
    }

    private func lead(_ life: Life, _ term: UInt64) {
        _ = led.add(1)
        if !life.isFaulty {
            let before = lastTerm.exchange(term)
            if before >= term { noteFault(unfenced, "term \(term) after term \(before)") }
        }
        let found = places(life).enter(life.worker, Self.tag(term)) { other in !isDeposed(tag: other) || life.isFaulty }
        if found > 0 { noteFault(overlaps, "in term \(term) another leads too") }
    }

    /// Leads on until it is deposed, or until 20 ms have passed without that; then waits to be told.
    private func awaitDeposing(_ leadership: borrowing Hold, _ loss: Loss, _ life: Life) throws {
        let term = leadership.fencing
        offered.storeSequential(term)
        let deadline = MonotonicInstant.now.advanced(by: .milliseconds(20))
        while try leadership.isHeld {
            if deadline.hasPassed { return }
            usleep(100)
        }
        let limit = MonotonicInstant.now.advanced(by: life.patience)
        while !loss.isNoted {
            if limit.hasPassed { return noteFault(unheard, "who led in term \(term) was not told of its end") }
            usleep(100)
        }
        _ = told.add(1)
    }

    private func places(_ life: Life) -> HeldPlaces {
        let ledger = ledger
        return HeldPlaces(workers: life.workers, patience: life.patience) { ledger.row($0) }
    }

    private func isDeposed(_ term: UInt64) -> Bool { mark(term).loadSequential() == term }

    /// A term as a place holds it, in 32 bits: the lower half, in which the terms of a round differ.
    private static func tag(_ term: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: term) }

    private func isDeposed(tag: UInt32) -> Bool {
        let marked = mark(UInt64(tag)).loadSequential()
        return marked != 0 && Self.tag(marked) == tag
    }

    func attend(_ namespace: Namespace) throws {
        let term = offered.exchange(0)
        guard term > 0 else {
            usleep(200)
            return
        }
        // The mark precedes the deposing: from then on another may lead beside the deposed one.
        mark(term).storeSequential(term)
        if try namespace.election("leader").depose(term: term) { _ = deposed.add(1) }
    }

    func bury(_ worker: Int) { ledger.row(worker).store(0) }

    func judge(_ namespace: Namespace) throws {
        if let leader = try namespace.election("leader").leader() {
            noteFault(stuck, "\(leader) leads, and all have ended")
        }
    }

    /// Whether the callback has said that leadership is lost.
    private final class Loss: Sendable {
        private let word = Atomic(false)
        func note() { word.store(true, ordering: .releasing) }
        var isNoted: Bool { word.load(ordering: .acquiring) }
    }
}
