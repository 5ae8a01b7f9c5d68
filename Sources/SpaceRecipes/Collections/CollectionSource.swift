import SpaceSystem
import Synchronization

/// What one kind of collection tells its observers; when, is a ``CollectionFeed``'s to say.
package protocol CollectionSource: Sendable {
    associatedtype Told: Sendable

    var name: String { get }
    var namespace: Namespace { get }

    /// What is told of a change, of which there may also be some that are not the collection's.
    ///
    /// Throws: Where the observer's copy is not to be had without a reset; the next change brings it.
    func telling(of change: Change) throws(SpaceError) -> FeedStep<Told>

    /// All that is there now, and the number of the last change that it holds.
    ///
    /// Throws: `closed` when the collection has been removed.
    func reset(for change: Change) throws(SpaceError) -> (told: Told, sequence: UInt64)

    /// Throws: `closed` when the collection has been removed.
    func checkIsThere() throws(SpaceError)

    /// That nothing follows.
    func end(with change: Change) -> Told
}
