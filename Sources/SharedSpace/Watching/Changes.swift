import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

/// The changes of a namespace, one after the other: every change once, in order, or a gap that says what was missed.
///
/// ```swift
/// for try await change in try jobs.changes(matching: ["resize", .any]) {
///     print(change.kind, change.tuple ?? "")
/// }
/// ```
///
/// The consumer sets the pace: changes are read from the namespace's journal as they are asked for, so a slow consumer neither
/// holds a writer up nor fills memory. One that falls behind the journal's bound (65,536 changes or 16 MiB) gets a
/// gap. When the namespace is deleted, the sequence tells what was committed before, then `gone`, and ends. Registered from the
/// call on: nothing after it is missed, even before the first `next`. The registration ends with the last copy of the sequence
/// and its iterators.
public struct Changes: AsyncSequence, Sendable {
    /// What the sequence yields.
    public typealias Element = Change

    let source: ChangeSource

    /// An iterator.
    ///
    /// All iterators of a sequence share its position.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let source: ChangeSource

        /// The next change; `nil` after the namespace's end, and after cancellation.
        public mutating func next() async throws(SpaceError) -> Change? { try await source.next() }

        /// The next change; `nil` after the namespace's end, and after cancellation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SpaceError) -> Change? {
            try await source.next()
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// The last change at the time of registering: everything later is delivered.
    public var start: UInt64 { source.registration.present }

    /// The next change; `nil` when there is none in time, after the namespace's end, and after cancellation.
    public func next(timeout: Duration) async throws(SpaceError) -> Change? {
        try await source.next(until: MonotonicInstant.deadline(after: timeout))
    }

    /// The next change, blocking the thread; `nil` when there is none in time, and after the namespace's end.
    ///
    /// `timeout`: `nil`: no limit but the interruption, which throws `cancelled`.
    package func nextBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Change? {
        try source.nextBlocking(until: MonotonicInstant.deadline(after: timeout), interruption: interruption)
    }

    /// Of a subscription: says that everything up to a change has been dealt with, and need not come again.
    public func acknowledge(through sequence: UInt64) throws(SpaceError) { try source.acknowledge(sequence) }
}

/// A registered watcher's place in the journal.
final class ChangeSource: Sendable {
    let registration: NamespaceCore.Registration
    private let namespace: Namespace
    private let filter: ChangeFilter
    private let isSubscription: Bool
    private let state: Mutex<State>

    private struct State {
        var position: UInt64
        var ready: ArraySlice<Change> = []
        var hasEnded = false
    }

    init(_ namespace: Namespace, _ filter: ChangeFilter, _ start: NamespaceCore.WatchStart, _ subscription: String)
        throws(SpaceError)
    {
        self.namespace = namespace
        self.filter = filter
        isSubscription = !subscription.isEmpty
        let core = try namespace.usableCore("watch")
        BellRoom.shared.begin(core)
        do throws(SpaceError) {
            registration = try core.registerWatcher(filter, start: start, subscription: subscription)
        } catch {
            BellRoom.shared.end(core)
            throw error
        }
        state = Mutex(State(position: registration.position))
        core.dropWatchersOfTheDead()
    }

    deinit {
        BellRoom.shared.end(namespace.core)
        try? namespace.core.endWatcher(registration.number, of: namespace.session, isSubscription: isSubscription)
    }

    func acknowledge(_ sequence: UInt64) throws(SpaceError) {
        try namespace.core.acknowledge(registration.number, sequence)
    }

    func next(until deadline: MonotonicInstant? = nil) async throws(SpaceError) -> Change? {
        let core = namespace.core
        while true {
            let transaction = core.environment.lastTransaction
            if let change = try take(core) { return change }
            if state.withLock({ $0.hasEnded }) || Task.isCancelled || deadline?.hasPassed ?? false { return nil }
            await BellRoom.shared.wait(for: core, since: transaction, until: deadline)
        }
    }

    /// The same, blocking the thread.
    func nextBlocking(until deadline: MonotonicInstant?, interruption: Interruption?) throws(SpaceError) -> Change? {
        let core = namespace.core
        while true {
            let transaction = core.environment.lastTransaction
            if let change = try take(core) { return change }
            if interruption?.isTriggered ?? false { throw core.cancelled("watch") }
            if state.withLock({ $0.hasEnded }) || deadline?.hasPassed ?? false { return nil }
            BellRoom.shared.block(for: core, since: transaction, until: deadline, interruption: interruption)
        }
    }

    /// The next change that is there, from what was read or from the journal.
    private func take(_ core: NamespaceCore) throws(SpaceError) -> Change? {
        while true {
            let (ready, position, hasEnded) = state.withLock { ($0.ready.popFirst(), $0.position, $0.hasEnded) }
            if let ready { return ready }
            if hasEnded { return nil }
            // Before the look: nothing is committed once this is set, so a look after it sees all that there will be.
            let isLastLook = core.control.dead.load() != 0
            do throws(SpaceError) {
                let (changes, reached) = try core.readJournal(after: position) { filter.includes($0) }
                let isStale = state.withLock { state in
                    // Another iterator read the same rows meanwhile.
                    guard state.position == position else { return true }
                    state.position = reached
                    state.ready = changes[...]
                    return false
                }
                if !isStale, changes.isEmpty, reached == position { return isLastLook ? end(core) : nil }
            } catch  where error.code == .namespaceDeleted {
                return end(core)
            } catch  where error.code == .closed {
                state.withLock { $0.hasEnded = true }
                return nil
            }
        }
    }

    /// The last of all; a gap before it where the journal could not be read to its end, for want of a reader.
    private func end(_ core: NamespaceCore) -> Change? {
        state.withLock { state in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            let (position, last) = (state.position, core.control.sequence.load())
            guard last > position else { return Change(gone: position) }
            state.position = last
            state.ready = [Change(gone: last)]
            return Change(gapFrom: position + 1, to: last)
        }
    }
}
