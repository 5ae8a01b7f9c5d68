import SpaceSystem

/// A wait after its first look: a published slot, and the rules by which a grant is taken up, ended and handed on.
///
/// Threads and tasks follow the same rules; their drivers (`block`, `suspend`) differ only in how they sleep. One turn
/// goes:
///
///     remember the wake word → look for the tuple that was granted, if one was → re-arm (a granted slot becomes active
///     again) → if the start of the waiter's line is above its ticket, lower it → look for any match → if the look found
///     nothing, hand on the grant → sleep until the wake word is raised
///
/// While the waiter looks for what it was granted, its slot stays granted, so that the next tuple goes to the next
/// taker. If a tuple is written after the start was lowered, either the look sees it, or the writer raises the word
/// again. `Aim` says what the look for any match leaves to other takers.
struct WaitLoop {
    private let core: NamespaceCore
    /// When the wait ends; `nil`: only when something is found.
    let deadline: MonotonicInstant?
    private let measure: WaitMeasure?
    /// The waiter's slot; `nil` if the table was full: then the shared word, which every commit raises, takes its
    /// place.
    private let tenancy: WaitSlots.Tenancy?
    private var pending: UInt64?
    private var aim = Aim()
    private var hasLooked = false
    private(set) var wakeWordAtLook: UInt32 = 0
    private(set) var transactionAtLook = -1
    /// Whether the wait is for a tuple or a place, which can also come free because its holder dies.
    private let mayComeFromTheDead: Bool
    /// The control file's count of claimants as this wait last saw it; 0 if it does not listen for their end yet.
    private var claimants: UInt32 = 0
    /// Whether the next look follows a nudge, without a ring for news.
    private var isNudged = false
    /// Why the last look could not be carried out, if so.
    private(set) var hindrance: SpaceError?
    private var took: UInt64?

    /// Begins a wait whose time has not passed.
    ///
    /// - Parameters:
    ///   - core: The namespace.
    ///   - first: The first look, which found nothing.
    ///   - interest: What wakes the waiter.
    ///   - taskWord: The number of the word that wakes this process's tasks; `nil`: a thread waits, or tasks have no word.
    ///   - measure: The measuring of the wait.
    init(
        _ core: NamespaceCore,
        after first: FirstLook,
        _ interest: Interest,
        taskWord: UInt32?,
        _ measure: WaitMeasure?
    ) {
        self.core = core
        self.measure = measure
        deadline = first.deadline
        hindrance = first.hindrance
        core.attendance.begin()
        tenancy = core.waits.publishWait(interest, taskWord: taskWord, isMeasured: measure != nil)
        mayComeFromTheDead = interest.mayComeFromTheDead
        renew()
    }

    var slot: WaitSlots.Slot? { tenancy?.slot }
    private var ticket: UInt64 { tenancy?.ticket ?? .max }

    /// When the tuple that the wait took was granted to it, in monotonic nanoseconds; `nil` if it was not, or if the wait
    /// is not measured.
    private var grantedAt: UInt64? {
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

    var wakeWord: WakeWord { WakeWord(slot?.wakeWord ?? core.slots.overflow) }
    var isRaised: Bool { wakeWord.isRaised(since: wakeWordAtLook) }

    /// Takes one turn: looks for what was granted, then for any match, and hands on a granted tuple that it did not
    /// take.
    ///
    /// A look that could not be carried out does not end the wait.
    mutating func turn<R>(_ look: (inout Aim) throws(SpaceError) -> Found<R>?) throws(SpaceError) -> R? {
        wakeWordAtLook = wakeWord.word.loadSequential()
        transactionAtLook = core.engine.lastChange
        aim = Aim()
        if let granted {
            CrashPoint.reach(.grantSeen)
            aim.only = granted
            if let found = try core.waits.lookIfPossible(&hindrance, &aim, look) { return finish(found) }
            aim.only = nil
        }
        rearm()
        if pending != nil {
            aim.heeds = ticket
        } else if hasLooked {
            aim.heeds = .max
            aim.isGlance = true
        }
        hasLooked = true
        if let found = try core.waits.lookIfPossible(&hindrance, &aim, look) { return finish(found) }
        CrashPoint.reach(.lookedInVain)
        foundNothing()
        return nil
    }

    private mutating func finish<R>(_ found: Found<R>) -> R {
        took = found.removed
        // A ring during the look is no lost one.
        if isNudged, !wakeWord.isRung(since: wakeWordAtLook) { core.waits.noteLateFind(of: found.removed) }
        measure?.end(core, grantedAt: grantedAt)
        return found.result
    }

    /// Whether the time has passed; the error of the last look is thrown if it has, and the look could not be carried out.
    func isOver() throws(SpaceError) -> Bool { try deadline.isOver(after: hindrance) }

    /// Notes that a sleep has ended.
    ///
    /// - Throws: The error of a namespace that can't be used any more.
    mutating func wake() throws(SpaceError) {
        isNudged = isRaised && !wakeWord.isRung(since: wakeWordAtLook) && hindrance == nil
        // The ticker has seen something that this process has to look at, too.
        if isNudged {
            core.upkeep.attendOwnPart()
            if core.hasNewTicker { EventLoop.hasten(core) }
        }
        try core.checkUsable()
    }

    /// Notes that the waiter looks because of a commit for which the word was not raised.
    mutating func lookUnrung() { isNudged = hindrance == nil && !isRaised }

    /// What the slot was granted.
    private var granted: UInt64? {
        guard let tenancy else { return nil }
        let word = tenancy.slot.current
        return word.state == .granted && tenancy.isCurrent ? word.payload : nil
    }

    /// Prepares a look for any match: re-arms a granted slot, and lowers the start of its line.
    private mutating func rearm() {
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
        core.slots.lowerStart(for: tenancy)
    }

    /// Called after a look that found nothing: hands on the tuple that had been granted.
    private mutating func foundNothing() {
        if mustLookAgain { transactionAtLook = -1 }
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
        guard mayComeFromTheDead, known != claimants else { return }
        claimants = known
        EventLoop.shared.attend(core, claimants: known)
    }

    /// Sleeps until the wake word has moved, until the given moment, or until a signal arrives.
    ///
    /// - Throws: `forked` in a child that a signal handler of this thread has made.
    func sleep(until end: MonotonicInstant) throws(SpaceError) {
        slot?.isSleeping.storeSequential(1)
        // The only possible errors are a bad address and a bad time; even then the thread looks again.
        _ = try? Futex(at: wakeWord.word.address).wait(while: wakeWordAtLook, until: end)
        try checkNotInherited()
        slot?.isSleeping.store(0)
    }

    /// Checks whether this is still the process that waits.
    ///
    /// Called where this thread may have run a signal handler, or a function of the caller's: either may fork, and return in
    /// the child too. The slot is the parent's thread's, then.
    ///
    /// - Throws: `forked`.
    func checkNotInherited() throws(SpaceError) {
        if core.isInherited { try core.checkUsable() }
    }

    /// Whether a look at the next tick is necessary, even if nothing changes: the last one could not be carried out, or left
    /// a tuple to another taker.
    var mustLookAgain: Bool { hindrance != nil || aim.hasLeft }

    /// Whether there may be something new although the word was not raised.
    var mayHaveMissed: Bool { core.engine.lastChange != transactionAtLook }

    /// Ends the wait.
    ///
    /// A tuple that was granted and not taken is handed on.
    func end() {
        if core.isInherited { return }
        let granted = tenancy.flatMap { core.slots.withdraw($0, session: core.session.number) }
        for grant in [pending, granted] {
            if let grant, grant != took { handOn(grant) }
        }
        core.attendance.end()
    }
}
