/// The changes of an ordered set or of a dictionary, one after the other.
///
/// If the collection is removed or the namespace deleted, the last change says so, and the sequence ends. All copies and
/// iterators of a sequence share its position.
public struct CollectionChangeSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let next: @Sendable (_ timeout: Duration?) async throws(SpaceError) -> Element?

    init<Source>(_ source: Changes, toldBy teller: CollectionFeed<Source>) where Source.Told == Element {
        next = { (timeout) async throws(SpaceError) in try await source.next(toldBy: teller, timeout: timeout) }
    }

    /// An iterator.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let changes: CollectionChangeSequence<Element>

        /// The next change; `nil` after the end, and after cancellation.
        ///
        /// - Throws: `badData` for a change that does not decode. The next call goes on: for an ordered set with a
        ///   reset, once the elements that did not decode are gone; for a dictionary with the changes that follow.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws(SpaceError) -> Element? {
            try await changes.next(nil)
        }
    }

    /// Makes an iterator.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(changes: self) }

    /// The next change; `nil` if none comes in time, after the end, and after cancellation.
    public func next(timeout: Duration) async throws(SpaceError) -> Element? { try await next(timeout) }
}
