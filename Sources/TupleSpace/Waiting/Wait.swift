import LMDB
import SpaceSystem
import TupleCoding

/// One wait: a published slot, and the rules by which a grant is taken up, ended and handed on.
///
/// The same for threads and for tasks; they differ only in how they sleep. A look goes:
///
///     remember the bell → re-arm (a grant becomes active again) → look → hand a grant on that came to nothing → sleep
///     until the bell has moved
///
/// so that whatever is written from the re-arm on is either seen by the look or rings again.
struct Wait {
    private let core: NamespaceCore
    /// `nil` when the table was full: then the shared word stands in, which every commit rings.
    private let tenancy: WaitSlots.Tenancy?
    private var pending: UInt64?
    private(set) var bellAtLook: UInt32 = 0
    private(set) var transactionAtLook = -1
    /// Whether it is for a tuple, which a dead claimer may leave.
    private let isForTuple: Bool
    /// The claimants that are listened to, as far as they were known; 0: none.
    private var claimants: UInt32 = 0

    init(_ core: NamespaceCore, _ interest: Interest, doorbell: UInt32?) {
        self.core = core
        tenancy = core.publishWait(interest, doorbell: doorbell)
        isForTuple = interest.form != .cell
        renew()
    }

    var slot: WaitSlots.Slot? { tenancy?.slot }
    private var ticket: UInt64 { tenancy?.ticket ?? .max }

    /// At each tick: without a slot, says that somebody still waits.
    func renew() {
        if tenancy == nil { core.slots.announceOverflowWaiter() }
    }

    var bell: SharedWord32 { slot?.bell ?? core.slots.overflow }
    var hasRung: Bool { bell.load() != bellAtLook }

    /// Before a look.
    mutating func prepare() {
        bellAtLook = bell.loadSequential()
        transactionAtLook = core.environment.lastTransaction
        guard let tenancy else {
            renew()
            return SharedWord64.fence()
        }
        let slot = tenancy.slot
        while true {
            let word = slot.current
            guard word.state == .granted, tenancy.isCurrent else { break }
            if slot.change(from: word, to: word.next(.active)) {
                pending = word.payload
                CrashPoint.reach(.rearmed)
                break
            }
        }
        SharedWord64.fence()
    }

    /// After a look that found nothing: hands on what had been granted.
    ///
    /// `isHindered`: Whether the look could not be had; then the next turn looks again, whatever happens until then.
    mutating func foundNothing(isHindered: Bool) {
        if isHindered { transactionAtLook = -1 }
        guard let id = pending else { return }
        pending = nil
        handOn(id)
    }

    private func handOn(_ id: UInt64) {
        if Safeguard.handedOn.stands { core.engine.offer(id, youngerThan: ticket) }
    }

    /// Before sleeping: listens for the end of those who have claimed.
    mutating func attendClaimants() {
        let known = core.control.claimants.loadSequential()
        guard isForTuple, known != claimants else { return }
        if claimants == 0 { ClaimWatch.shared.begin(core) }
        claimants = known
        ClaimWatch.shared.attend(core, claimants: known)
    }

    /// Whether the last look could not be had.
    var isHindered: Bool { transactionAtLook < 0 }

    /// Whether there may be something new, though no bell was heard.
    var mayHaveMissed: Bool { core.environment.lastTransaction != transactionAtLook }

    /// Ends the wait.
    ///
    /// What had been granted and was not taken is handed on.
    func end(took id: UInt64?) {
        if claimants != 0 { ClaimWatch.shared.end(core) }
        let granted = tenancy.flatMap { core.slots.withdraw($0, session: core.session.number) }
        for grant in [pending, granted] {
            if let grant, grant != id { handOn(grant) }
        }
    }
}
