/// A sequence whose iterators are the sequence again: all of them share its position.
package protocol OwnIterator: AsyncSequence, AsyncIteratorProtocol {}

extension OwnIterator {
    /// The sequence itself.
    public func makeAsyncIterator() -> Self { self }
}
