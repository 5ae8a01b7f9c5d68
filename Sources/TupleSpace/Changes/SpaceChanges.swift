import SpaceSystem

/// The namespaces of a space as they appear and disappear.
///
/// ```swift
/// for try await change in try space.changes(initial: true) {
///     if case .appeared(let name) = change { print("new:", name) }
/// }
/// ```
///
/// The namespace's folder decides: a namespace appears when its creator has renamed the complete folder into place, and
/// disappears when the namespace is deleted. A namespace that has lost its last owner stays until a process deletes it:
/// the next process that opens it or lists the space, or `space reap --follow`. Watching deletes nothing and keeps
/// nothing alive.
///
/// This sequence shows state, not history: a consumer that asks seldom gets only the difference. If a namespace was
/// deleted and created again between two looks, it disappears and appears; if it appeared and disappeared between two
/// looks, it is not reported.
///
/// Each iterator is the sequence again: all of them share its position.
public struct SpaceChanges: AsyncSequence, AsyncIteratorProtocol, OwnIterator, Sendable {
    package let source: SpaceChangeSource

    /// The next change; `nil` after cancellation.
    public func next(isolation actor: isolated (any Actor)?) async throws(SpaceError) -> SpaceChange? {
        try await source.next()
    }

    /// The next change, blocking the thread; `nil` if none comes in time.
    ///
    /// With a `timeout` of `nil`, only the interruption ends the wait; it throws `cancelled`.
    package func nextBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> SpaceChange? {
        try source.nextBlocking(until: MonotonicInstant.deadline(after: timeout), interruption: interruption)
    }
}

extension Space {
    /// The appearances and disappearances of namespaces, from now on.
    ///
    /// - Parameter initial: Whether the existing namespaces come first, as appeared.
    /// - Returns: The changes; a change after this call is reported if it still holds at the next look.
    /// - Throws: `permissionDenied`, `descriptorsExhausted`, `inputOutput`.
    /// - Complexity: Each look reads the root folder: O(namespaces).
    public func changes(initial: Bool = false) throws(SpaceError) -> SpaceChanges {
        SpaceChanges(source: try SpaceChangeSource(spaceRoot, isInitial: initial))
    }
}
