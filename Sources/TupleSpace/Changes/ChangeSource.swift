package import SpaceSystem
import Synchronization

/// A registered watcher's place in the journal.
package final class ChangeSource: Sendable {
    let registration: Registrations.Registration
    private let namespace: Namespace
    private let filter: ChangeFilter
    private let subscription: String
    private var isSubscription: Bool { !subscription.isEmpty }
    /// The watcher's row now, and the session that it belongs to.
    private let row: Mutex<(number: UInt64, session: UInt64)>
    private let state: Mutex<State>
    /// The part of the initial contents that is still to be delivered.
    ///
    /// The lock is held while an iterator reads on, so that two iterators deliver each item once, and in order.
    private let present: Mutex<PresentState?>

    private struct State {
        /// The last change that was read.
        var position: UInt64
        var ready: ArraySlice<Change> = []
        var hasEnded = false
        /// The last change that was handed out, and the last one that the consumer has acknowledged.
        var delivered: UInt64
        var handled: UInt64
        /// The position in the subscription's row, and how many bytes of rows were read since it was stored.
        var saved: UInt64
        var unsaved = 0

        init(position: UInt64) {
            self.position = position
            (delivered, handled, saved) = (position, position, position)
        }

        mutating func next() -> Change? {
            guard let change = ready.popFirst() else { return nil }
            if !change.isPresent { delivered = max(delivered, change.lastSequence) }
            return change
        }

        /// The change up to which everything was handed out.
        var progress: UInt64 { ready.first.map { max($0.sequence, 1) - 1 } ?? position }

        /// The change up to which everything is done.
        ///
        /// If the consumer has acknowledged all that was handed out, this includes later changes that the filter left
        /// out.
        var settled: UInt64 {
            guard handled >= delivered else { return handled }
            // The gap before a life's first change has the number 0.
            return max(handled, progress)
        }
    }

    /// A subscription's position is stored after this many unwanted changes, or bytes of them: less than the journal
    /// keeps, so that they never become a gap, and enough that it happens seldom.
    private static let restChanges: UInt64 = 4096
    private static let restBytes = 1 << 20

    /// Registers a watcher.
    init(
        _ namespace: Namespace,
        _ filter: ChangeFilter,
        from start: Changes.Start
    ) throws(SpaceError) {
        self.namespace = namespace
        self.filter = filter
        var (place, subscription, life) = (Registrations.WatchStart.now, "", NamespaceLife?.none)
        var isInitial = false
        switch start {
        case .now: break
        case .initial: isInitial = true
        case .after(let sequence): place = .after(sequence)
        case .resume(let point): (place, life) = (.after(point.sequence), point.life)
        case .subscription(let name, let known): (subscription, life) = (name, known)
        }
        self.subscription = subscription
        let core = namespace.core
        registration = try namespace.attempt("watch") { (core) throws(SpaceError) in
            EventLoop.shared.begin(core)
            do throws(SpaceError) {
                return try core.registrations.registerWatcher(
                    filter,
                    start: place,
                    subscription: subscription,
                    of: life
                )
            } catch {
                EventLoop.shared.end(core)
                throw error
            }
        }
        row = Mutex((registration.number, core.session.number))
        var state = State(position: registration.position)
        if registration.tellsOfOtherLife { state.ready = [Change(gapFrom: 0, to: 0)] }
        self.state = Mutex(state)
        present = Mutex(isInitial ? PresentState(registration, filter) : nil)
        core.dropRegistrations(of: .theDead)
    }

    package var life: NamespaceLife { namespace.life }

    /// The change up to which everything was handed out; that of the registration while the initial contents are read.
    var progress: UInt64 {
        let hasPresent = present.withLockIfAvailable { $0.map { !$0.isDone } ?? false } ?? true
        return hasPresent ? registration.present : state.withLock { $0.progress }
    }

    deinit {
        EventLoop.shared.end(namespace.core)
        let settled = isSubscription ? state.withLock { $0.settled } : 0
        let row = row.withLock { $0 }
        namespace.core.letGo { [row, isSubscription] core, patience throws(SpaceError) in
            try core.registrations.endWatcher(
                row.number,
                of: row.session,
                isSubscription: isSubscription,
                position: settled,
                timeout: patience
            )
        }
    }

    package func acknowledge(_ sequence: UInt64) throws(SpaceError) {
        let settled = state.withLock { state in
            state.handled = max(state.handled, sequence)
            return state.settled
        }
        try namespace.core.naming("acknowledge changes") { () throws(SpaceError) in
            try save(settled, timeout: nil)
        }
    }

    /// Stores a subscription's position.
    private func save(_ settled: UInt64, timeout: Duration?) throws(SpaceError) {
        let core = namespace.core
        if try !core.registrations.acknowledge(row.withLock { $0.number }, settled, timeout: timeout) {
            try registerAgain(core)
            let isStored = try core.registrations.acknowledge(row.withLock { $0.number }, settled, timeout: timeout)
            guard isStored || !isSubscription else { throw Self.endedByAnother }
        }
        row.withLock { $0.session = core.session.number }
        state.withLock { state in
            state.saved = max(state.saved, settled)
            state.unsaved = 0
        }
    }

    /// Advances a subscription's stored position past changes that the filter left out.
    ///
    /// Without this, the journal would drop those rows one day, and the watcher would get a gap for changes that it
    /// does not want.
    private func saveIfDue() {
        guard isSubscription else { return }
        let settled = state.withLock { state -> UInt64? in
            let settled = state.settled
            guard settled > state.saved else { return nil }
            return settled - state.saved >= Self.restChanges || state.unsaved >= Self.restBytes ? settled : nil
        }
        if let settled { try? save(settled, timeout: Engine.upkeepPatience) }
    }

    package func next(until deadline: MonotonicInstant? = nil) async throws(SpaceError) -> Change? {
        let core = namespace.core
        while true {
            let transaction = core.engine.lastChange
            if let change = try take(core) { return change }
            if state.withLock({ $0.hasEnded }) || Task.isCancelled || deadline?.hasPassed ?? false { return nil }
            await EventLoop.shared.wait(for: core, since: transaction, until: deadline)
        }
    }

    /// Waits for the next change, blocking the thread.
    package func nextBlocking(until deadline: MonotonicInstant?, interruption: Interruption?) throws(SpaceError)
        -> Change?
    {
        let core = namespace.core
        while true {
            let transaction = core.engine.lastChange
            if let change = try take(core) { return change }
            let isInterrupted = interruption?.isTriggered ?? false
            if core.isInherited { try core.checkUsable() }
            if isInterrupted { throw SpaceError.cancelled.named("watch", core.name.text) }
            if state.withLock({ $0.hasEnded }) || deadline?.hasPassed ?? false { return nil }
            EventLoop.shared.block(for: core, since: transaction, until: deadline, interruption: interruption)
            if core.isInherited { try core.checkUsable() }
        }
    }

    /// The next available change, from what was read before or from the journal.
    private func take(_ core: NamespaceCore) throws(SpaceError) -> Change? {
        while true {
            let (ready, hasEnded) = state.withLock { ($0.next(), $0.hasEnded) }
            if let ready { return ready }
            if hasEnded { return nil }
            CrashPoint.reach(.nothingReady)
            let reading = try core.naming("watch") { () throws(SpaceError) in
                try present.withLock { (present) throws(SpaceError) in
                    // Another iterator has read in between: the changes that it made ready come before any that are
                    // read now.
                    guard state.withLock({ $0.ready.isEmpty && !$0.hasEnded }) else { return Reading.ready }
                    return try readOn(core, &present)
                }
            }
            if reading != .ready { saveIfDue() }
            if reading == .nothing { return nil }
        }
    }

    /// The result of reading on.
    private enum Reading {
        /// Changes are ready, or the end is.
        case ready
        /// There were only changes that the filter leaves out.
        case unwanted
        case nothing
    }

    /// Makes more changes ready when none are: first a part of the initial contents, then rows of the journal.
    ///
    /// `present` is locked by the caller, so that one iterator reads at a time.
    private func readOn(_ core: NamespaceCore, _ present: inout PresentState?) throws(SpaceError) -> Reading {
        // Loaded before the read: no process commits once this flag is set, so a read after it sees everything.
        let isLastLook = core.control.dead.load() != 0
        do throws(SpaceError) {
            do throws(SpaceError) { try registerAgain(core) } catch  where error.mayPassIfRepeated {
                // The next look tries again.
            }
            if isSubscription, try !isRegistered(core) { throw Self.endedByAnother }
            if try readPresent(core, &present) { return .ready }
            let position = state.withLock { $0.position }
            var looked = 0
            let (changes, reached) = try core.journal.readJournal(after: position) { row in
                looked += row.size
                return filter.includes(row)
            }
            state.withLock { state in
                state.position = reached
                state.ready = changes[...]
                state.unsaved += looked
            }
            guard changes.isEmpty else { return .ready }
            guard reached == position else { return .unwanted }
            guard isLastLook else { return .nothing }
            end(core)
        } catch  where error.code == .namespaceDeleted {
            end(core)
        } catch  where error.code == .closed {
            state.withLock { $0.hasEnded = true }
        }
        return .ready
    }

    /// Whether the watcher still has its row: without it, the journal does not keep changes for it.
    private func isRegistered(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        try core.read(evenAfterDeletion: true) { (snapshot) throws(SpaceError) in
            try snapshot.watcherRows.contains(row.withLock { $0.number })
        }
    }

    private static var endedByAnother: SpaceError {
        SpaceError(
            .subscriptionEnded,
            reason: "the subscription was ended by another process or handle",
            advice: "subscribe again, to be told of what comes from then on"
        )
    }

    /// Registers again after the member of this machine, and the watcher with it, has ended on all machines.
    ///
    /// Changes that the journal dropped in between are a gap.
    ///
    /// - Throws: `clusterUnavailable` if the machine takes no part now; what a write throws.
    private func registerAgain(_ core: NamespaceCore) throws(SpaceError) {
        guard core.liveness.hasEnded(session: row.withLock({ $0.session })) else { return }
        try core.participation.goOnAsMember()
        let position = state.withLock { $0.position }
        let new = try core.registrations.registerWatcher(filter, start: .after(position), subscription: subscription)
        row.withLock { $0 = (new.number, core.session.number) }
    }

    /// Reads a part of the initial contents and makes it ready.
    ///
    /// Returns whether any part was left to read.
    private func readPresent(_ core: NamespaceCore, _ present: inout PresentState?) throws(SpaceError) -> Bool {
        guard var part = present else { return false }
        let changes = try core.read(evenAfterDeletion: true) { (snapshot) throws(SpaceError) in
            try part.read(snapshot)
        }
        state.withLock { $0.ready = changes[...] }
        present = part.isDone ? nil : part
        return true
    }

    /// Makes the end ready, after a gap if there was no reader to read the journal to its end.
    private func end(_ core: NamespaceCore) {
        state.withLock { state in
            state.hasEnded = true
            let (position, last) = (state.position, core.control.sequence.load())
            guard last > position else { return state.ready = [Change(gone: position)] }
            state.position = last
            state.ready = [Change(gapFrom: position + 1, to: last), Change(gone: last)]
        }
    }
}
