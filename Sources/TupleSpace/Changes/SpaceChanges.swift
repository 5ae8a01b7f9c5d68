import SpaceSystem
import Synchronization
import SystemPackage

/// The namespaces of a space as they come and go.
///
/// ```swift
/// for try await change in try space.changes(initial: true) {
///     if case .appeared(let name) = change { print("new:", name) }
/// }
/// ```
///
/// What counts is the namespace's folder: one has appeared when its creator has renamed it into place, complete, and has
/// disappeared when it was deleted. One that nobody owns any more stays until somebody deletes it: the next who opens it or
/// lists the space, or `space reap --follow`. Watching deletes nothing and keeps nothing alive.
///
/// This is state, not history: who asks seldom is told the difference. A namespace that was deleted and made anew in between
/// has disappeared and appeared; one that came and went in between is not told of.
public struct SpaceChanges: AsyncSequence, Sendable {
    /// What the sequence yields.
    public typealias Element = SpaceChange

    package let source: SpaceChangeSource

    /// An iterator.
    ///
    /// All iterators of a sequence share its position.
    public struct AsyncIterator: AsyncIteratorProtocol {
        package let source: SpaceChangeSource

        /// The next change; `nil` after cancellation.
        public mutating func next() async throws(SpaceError) -> SpaceChange? { try await source.next() }

        /// The next change; `nil` after cancellation.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SpaceError) -> SpaceChange? {
            try await source.next()
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: source) }

    /// The next change, blocking the thread; `nil` when there is none in time.
    ///
    /// `timeout`: `nil`: no limit but the interruption, which throws `cancelled`.
    package func nextBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> SpaceChange? {
        try source.nextBlocking(until: MonotonicInstant.deadline(after: timeout), interruption: interruption)
    }
}

extension Space {
    /// The namespaces that appear and disappear, from now on.
    ///
    /// - Parameter initial: Whether those that are there come first, as appeared.
    /// - Returns: The changes; nothing that is still so when it is asked for is missed after this call.
    /// - Throws: `permissionDenied`, `descriptorsExhausted`, `inputOutput`.
    /// - Complexity: Each look reads the root folder: O(namespaces).
    public func changes(initial: Bool = false) throws(SpaceError) -> SpaceChanges {
        SpaceChanges(source: try SpaceChangeSource(folder, isInitial: initial))
    }
}
