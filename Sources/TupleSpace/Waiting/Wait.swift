import SpaceSystem
import TupleCoding

/// One wait: a published slot, and the rules by which a grant is taken up, ended and handed on.
///
/// Threads and tasks follow the same rules; they differ only in how they sleep. One turn of a wait goes:
///
///     remember the bell → re-arm (a granted slot becomes active again) → look → if the look found nothing, hand on
///     the grant → sleep until the bell is raised
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
    /// Whether the next look follows a nudge, without a ring for news.
    private var isNudged = false
    /// Why the last look could not be carried out, if so.
    private(set) var hindrance: SpaceError?
    private var took: UInt64?

    init(_ core: NamespaceCore, _ interest: Interest, doorbell: UInt32?, isMeasured: Bool) {
        self.core = core
        core.attendance.begin()
        tenancy = core.publishWait(interest, doorbell: doorbell, isMeasured: isMeasured)
        isForTuple = interest.form != .cell
        renew()
    }

    var slot: WaitSlots.Slot? { tenancy?.slot }
    private var ticket: UInt64 { tenancy?.ticket ?? .max }

    /// When the tuple that the wait took was granted to it, in monotonic nanoseconds; `nil` if it was not, or if the wait
    /// is not measured.
    var grantedAt: UInt64? {
        guard let slot, let took, slot.lastGrant.load() == took else { return nil }
        let moment = slot.grantedAt.load()
        return moment > 1 ? moment : nil
    }

    /// Whether the waiter has a slot; one without looks at every tick.
    var hasSlot: Bool { tenancy != nil }

    /// Called at each tick: if the waiter has no slot, it announces that it still waits.
    func renew() {
        if tenancy == nil { core.slots.announceOverflowWaiter() }
    }

    var bell: Bell { Bell(slot?.bell ?? core.slots.overflow) }
    var isRaised: Bool { bell.isRaised(since: bellAtLook) }

    /// Takes one turn: looks, and hands on what was granted in vain.
    ///
    /// A look that could not be carried out does not end the wait.
    mutating func turn<R>(_ look: () throws(SpaceError) -> Found<R>?) throws(SpaceError) -> Found<R>? {
        prepare()
        guard let found = try core.lookIfPossible(&hindrance, look) else {
            foundNothing()
            return nil
        }
        took = found.removed
        // A ring during the look is no lost one.
        if isNudged, !bell.isRung(since: bellAtLook) { core.noteLateFind(of: found.removed) }
        return found
    }

    /// Notes that a sleep has ended.
    mutating func wake() {
        isNudged = isRaised && !bell.isRung(since: bellAtLook) && hindrance == nil
        // The ticker has seen something that this process has to look at, too.
        if isNudged {
            core.attendOwnPart()
            if core.hasNewTicker { EventLoop.hasten(core) }
        }
    }

    /// Notes that the waiter looks because of a commit for which no bell was heard.
    mutating func lookUnrung() { isNudged = hindrance == nil && !isRaised }

    /// Prepares a look: remembers the bell, and re-arms a granted slot.
    private mutating func prepare() {
        bellAtLook = bell.word.loadSequential()
        transactionAtLook = core.engine.lastChange
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
    private mutating func foundNothing() {
        if hindrance != nil { transactionAtLook = -1 }
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
        claimants = known
        EventLoop.shared.attend(core, claimants: known)
    }

    /// Whether there may be something new although no bell was heard.
    var mayHaveMissed: Bool { core.engine.lastChange != transactionAtLook }

    /// Ends the wait.
    ///
    /// A tuple that was granted and not taken is handed on.
    func end() {
        let granted = tenancy.flatMap { core.slots.withdraw($0, session: core.session.number) }
        for grant in [pending, granted] {
            if let grant, grant != took { handOn(grant) }
        }
        core.attendance.end()
    }
}
