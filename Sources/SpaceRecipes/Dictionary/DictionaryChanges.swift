import SpaceSystem
import TupleCoding

/// The changes of a dictionary, one after the other.
///
/// If the dictionary is removed or the namespace deleted, the last change says so, and the sequence ends.
public struct DictionaryChanges<Value: Codable & Sendable>: AsyncSequence, Sendable {
    package let source: Changes
    let teller: CollectionFeed<DictionarySource<Value>>

    /// An iterator.
    ///
    /// All iterators of a sequence share its position.
    public struct AsyncIterator: AsyncIteratorProtocol {
        package let changes: DictionaryChanges<Value>

        /// The next change; `nil` after the end, and after cancellation.
        ///
        /// - Throws: `badData` for a value that does not decode; the next call continues with the changes that follow.
        public mutating func next() async throws(SpaceError) -> DictionaryChange<Value>? {
            try await changes.next(timeout: nil)
        }

        /// The next change; `nil` after the end, and after cancellation.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(SpaceError) -> DictionaryChange<Value>? {
            try await changes.next(timeout: nil)
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(changes: self) }

    /// The next change; `nil` if none comes in time, after the end, and after cancellation.
    public func next(timeout: Duration) async throws(SpaceError) -> DictionaryChange<Value>? {
        try await next(timeout: .some(timeout))
    }

    private func next(timeout: Duration?) async throws(SpaceError) -> DictionaryChange<Value>? {
        try await source.next(toldBy: teller, timeout: timeout)
    }
}
