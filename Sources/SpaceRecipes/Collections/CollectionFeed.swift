import SpaceSystem
import Synchronization

/// Makes of what the journal tells of a collection what its observer is told.
///
/// Guarantees: whoever applies it to a copy, from a reset on, has after each change what the collection had then. A reset is read
/// from a snapshot that is later than the change that calls for it; so changes up to that snapshot are not told again. The end is
/// told once, also where the change that says so is among those that were missed.
///
/// The initial state is read once the watcher is registered and before the observer is handed to its caller. So each edit that the
/// caller makes later is told as an edit, however late the first call comes; an edit that another process makes between the
/// registration and the reading is in the initial state, and is not told again.
package final class CollectionFeed<Source: CollectionSource>: Sendable {
    private let source: Source
    private let options: CollectionObservationOptions
    private let state = Mutex(State())

    private struct State {
        /// The last change that the last reset held.
        var position: UInt64 = 0
        /// Something could not be told: only a reset can follow.
        var mustReset = false
        /// A reset was told.
        var hasBegun = false
        var hasEnded = false
        /// What was there when the observer was registered, until it is told.
        var initial: Result<(told: Source.Told, sequence: UInt64), SpaceError>?
    }

    init(_ source: Source, _ options: CollectionObservationOptions) {
        self.source = source
        self.options = options
    }

    /// Reads what is there, for an observer that asked for it; called once, after the registration.
    ///
    /// Throws: `closed` when the collection has been removed. What does not decode is the observer's to be told, in its turn.
    package func begin() throws(SpaceError) {
        guard options.contains(.initial) else { return try source.checkIsThere() }
        let initial: Result<(told: Source.Told, sequence: UInt64), SpaceError>
        do throws(SpaceError) {
            initial = .success(try source.reset(for: Change(presentCollection: source.name, at: 0)))
        } catch  where error.code == .badData || error.code == .damaged {
            initial = .failure(error)
        }
        state.withLock { $0.initial = initial }
    }

    /// Returns: `nil` for what the observer knows already, or does not want.
    ///
    /// Throws: `badData` for what does not decode; what follows is told all the same, after a reset where one is needed.
    package func tell(_ change: Change) throws(SpaceError) -> Source.Told? {
        let (position, mustReset, hasEnded) = state.withLock { ($0.position, $0.mustReset, $0.hasEnded) }
        if hasEnded { return nil }
        switch change.kind {
        case .gone, .discard: return end(change)
        case _ where change.lastSequence <= position && !change.isPresent: return nil
        default: break
        }
        state.withLock { $0.mustReset = true }
        let telling = mustReset ? .reset : try source.telling(of: change)
        if case .reset = telling { return try reset(change) }
        state.withLock { $0.mustReset = false }
        switch telling {
        case .told(let told): return told
        case .failure(let error): throw error
        case .nothing, .reset: return nil
        }
    }

    private func reset(_ change: Change) throws(SpaceError) -> Source.Told? {
        do throws(SpaceError) {
            let initial = state.withLock { state in
                defer { if change.isPresent { state.initial = nil } }
                return change.isPresent ? state.initial : nil
            }
            let (told, sequence) = if let initial { try initial.get() } else { try source.reset(for: change) }
            state.withLock { state in
                state.position = sequence
                state.mustReset = false
                state.hasBegun = true
            }
            return told
        } catch  where error.code == .closed || error.code == .namespaceDeleted {
            // Of the namespace that follows, if it was deleted; who left it is told nothing.
            guard (try? source.namespace.usableCore("observe")) != nil else { return nil }
            // Of the collection it may be in the gap that called for the reset; whose doing it was is not known.
            return end(Change(gone: change.lastSequence))
        }
    }

    private func end(_ change: Change) -> Source.Told? {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        return isFirst ? source.end(with: change) : nil
    }

    /// The first of all: what is there, once, for an observer that asked for it.
    fileprivate func initial() throws(SpaceError) -> Source.Told? {
        guard options.contains(.initial), state.withLock({ !$0.hasBegun }) else { return nil }
        // Who left it is told nothing.
        guard (try? source.namespace.usableCore("observe")) != nil else { return nil }
        return try tell(Change(presentCollection: source.name, at: 0))
    }

    package var name: String { source.name }

    /// Whether the observer asked for what is there.
    var tellsInitial: Bool { options.contains(.initial) }

    /// Whether the collection has gone.
    fileprivate var hasEnded: Bool { state.withLock { $0.hasEnded } }
}

extension Changes {
    /// The next of a collection's changes, as its teller tells them; `nil` when there is none in time, after the end, and after
    /// cancellation.
    package func next<Source>(
        toldBy teller: CollectionFeed<Source>,
        timeout: Duration?
    ) async throws(SpaceError) -> Source.Told? {
        if let initial = try teller.initial() { return initial }
        let deadline = MonotonicInstant.deadline(after: timeout)
        while !teller.hasEnded {
            guard let change = try await source.next(until: deadline) else { return nil }
            if let told = try teller.tell(change) { return told }
        }
        return nil
    }
}
