import SpaceSystem
import TupleCoding

/// The changes of an ordered set, one after the other.
///
/// If the ordered set is removed or the namespace deleted, the last change says so, and the sequence ends.
public struct CollectionChanges<Element: Codable & Sendable>: AsyncSequence, Sendable {
    package let source: Changes
    let teller: CollectionFeed<OrderedSetSource<Element>>

    /// An iterator.
    ///
    /// All iterators of a sequence share its position.
    public struct AsyncIterator: AsyncIteratorProtocol {
        package let changes: CollectionChanges<Element>

        /// The next change; `nil` after the end, and after cancellation.
        ///
        /// - Throws: `badData` for elements that don't decode; a later call gets a reset once those elements are gone.
        public mutating func next() async throws(SpaceError) -> CollectionChange<Element>? {
            try await changes.next(timeout: nil)
        }

        /// The next change; `nil` after the end, and after cancellation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SpaceError) -> CollectionChange<Element>? {
            try await changes.next(timeout: nil)
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(changes: self) }

    /// The next change; `nil` if none comes in time, after the end, and after cancellation.
    public func next(timeout: Duration) async throws(SpaceError) -> CollectionChange<Element>? {
        try await next(timeout: .some(timeout))
    }

    private func next(timeout: Duration?) async throws(SpaceError) -> CollectionChange<Element>? {
        try await source.next(toldBy: teller, timeout: timeout)
    }
}
