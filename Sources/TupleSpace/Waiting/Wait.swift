import SpaceSystem
import TupleCoding

/// One wait: a published slot, and the rules by which a grant is taken up, ended and handed on.
///
/// Threads and tasks follow the same rules; they differ only in how they sleep. One turn of a wait goes:
///
///     remember the bell → re-arm (a granted slot becomes active again) → look → if the look found nothing, hand on
///     the grant → sleep until the bell has moved
///
/// So whatever is written after the re-arm is either seen by the look or rings the bell again.
struct Wait {
    private let core: NamespaceCore
    /// The waiter's slot; `nil` if the table was full: then the shared word stands in, which every commit rings.
    private let tenancy: WaitSlots.Tenancy?
    private var pending: UInt64?
    private(set) var bellAtLook: UInt32 = 0
    private(set) var transactionAtLook = -1
    /// Whether the wait is for a tuple, which can also appear because a claimer dies.
    private let isForTuple: Bool
    /// The control file's count of claimants as this wait last saw it; 0 if it does not listen for their end yet.
    private var claimants: UInt32 = 0

    init(_ core: NamespaceCore, _ interest: Interest, doorbell: UInt32?) {
        self.core = core
        tenancy = core.publishWait(interest, doorbell: doorbell)
        isForTuple = interest.form != .cell
        renew()
    }

    var slot: WaitSlots.Slot? { tenancy?.slot }
    private var ticket: UInt64 { tenancy?.ticket ?? .max }

    /// Called at each tick: if the waiter has no slot, it announces that it still waits.
    func renew() {
        if tenancy == nil { core.slots.announceOverflowWaiter() }
    }

    var bell: SharedWord32 { slot?.bell ?? core.slots.overflow }
    var hasRung: Bool { bell.load() != bellAtLook }

    /// Prepares a look: remembers the bell, and re-arms a granted slot.
    mutating func prepare() {
        bellAtLook = bell.loadSequential()
        transactionAtLook = core.engine.lastCommit
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

    /// Called after a look that found nothing: hands on the tuple that had been granted.
    ///
    /// If `isHindered` is true, the look could not be carried out; then the next turn looks again in any case.
    mutating func foundNothing(isHindered: Bool) {
        if isHindered { transactionAtLook = -1 }
        guard let id = pending else { return }
        pending = nil
        handOn(id)
    }

    private func handOn(_ id: UInt64) {
        if Safeguard.handedOn.stands { core.engine.offer(id, youngerThan: ticket) }
    }

    /// Called before sleeping: listens for the end of the processes that have claimed something.
    mutating func attendClaimants() {
        let known = core.control.claimants.loadSequential()
        guard isForTuple, known != claimants else { return }
        if claimants == 0 { ClaimWatch.shared.begin(core) }
        claimants = known
        ClaimWatch.shared.attend(core, claimants: known)
    }

    /// Whether the last look could not be carried out.
    var isHindered: Bool { transactionAtLook < 0 }

    /// Whether there may be something new although no bell was heard.
    var mayHaveMissed: Bool { core.engine.lastCommit != transactionAtLook }

    /// Ends the wait.
    ///
    /// A tuple that was granted and not taken is handed on.
    func end(took id: UInt64?) {
        if claimants != 0 { ClaimWatch.shared.end(core) }
        let granted = tenancy.flatMap { core.slots.withdraw($0, session: core.session.number) }
        for grant in [pending, granted] {
            if let grant, grant != id { handOn(grant) }
        }
    }
}
