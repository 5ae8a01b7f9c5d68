import SpaceSystem
import Synchronization

/// Turns the journal's changes of a collection into the changes that its observer gets.
///
/// Guarantees: if an observer applies the changes to a copy, from a reset on, the copy has after each change what the
/// collection had then. A reset is read from a snapshot later than the change that calls for it, so changes up to that
/// snapshot are not reported again. The end is reported once, even if the change that says so is among those that were
/// missed.
///
/// The initial state is read after the watcher is registered and before the observer is handed to its caller. So each
/// later edit of the caller is reported as an edit, however late the first call comes. An edit that another process
/// makes between the registration and the reading is in the initial state, and is not reported again.
package final class CollectionFeed<Source: CollectionSource>: Sendable {
    private let source: Source
    private let options: CollectionObservationOptions
    private let state = Mutex(State())

    private struct State {
        /// The last change that the last reset contains.
        var position: UInt64 = 0
        /// Whether a change could not be reported: then only a reset can follow.
        var mustReset = false
        /// Whether a reset was reported.
        var hasBegun = false
        var hasEnded = false
        /// The state at the registration, until it is reported.
        var initial: Result<(told: Source.Told, sequence: UInt64), SpaceError>?
    }

    init(_ source: Source, _ options: CollectionObservationOptions) {
        self.source = source
        self.options = options
    }

    /// Reads the initial state, for an observer that asked for it; called once, after the registration.
    ///
    /// Throws `closed` if the collection has been removed. If the state does not decode, the observer gets that error
    /// in its turn.
    package func begin() throws(SpaceError) {
        try source.namespace.core.naming(Self.operation) { () throws(SpaceError) in
            guard options.contains(.initial) else { return try source.checkIsThere() }
            let initial: Result<(told: Source.Told, sequence: UInt64), SpaceError>
            do throws(SpaceError) {
                initial = .success(try source.reset(for: Change(presentCollection: source.name, at: 0)))
            } catch  where error.code == .badData || error.code == .damaged {
                initial = .failure(error)
            }
            state.withLock { $0.initial = initial }
        }
    }

    /// The observer's form of a change, or `nil` if the observer knows the change already or does not want it.
    ///
    /// Throws `badData` for a change that does not decode; later changes are reported nevertheless, after a reset if
    /// one is needed.
    package func tell(_ change: Change) throws(SpaceError) -> Source.Told? {
        try source.namespace.core.naming(Self.operation) { () throws(SpaceError) in try told(change) }
    }

    private static var operation: String { "observe" }

    private func told(_ change: Change) throws(SpaceError) -> Source.Told? {
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
            // The namespace was deleted or the collection removed. But if this handle was left, the observer gets
            // nothing.
            guard (try? source.namespace.usableCore()) != nil else { return nil }
            // A removal may lie in the gap that called for the reset, so the process that did it is not known.
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

    /// The initial state, once, for an observer that asked for it.
    fileprivate func initial() throws(SpaceError) -> Source.Told? {
        guard options.contains(.initial), state.withLock({ !$0.hasBegun }) else { return nil }
        // If the handle was left, the observer gets nothing.
        guard (try? source.namespace.usableCore()) != nil else { return nil }
        return try tell(Change(presentCollection: source.name, at: 0))
    }

    package var name: String { source.name }

    /// Whether the observer asked for the initial state.
    var tellsInitial: Bool { options.contains(.initial) }

    /// Whether the collection is gone.
    fileprivate var hasEnded: Bool { state.withLock { $0.hasEnded } }
}

extension Changes {
    /// The next change of a collection in the feed's form; `nil` if none comes in time, after the end, and after
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
