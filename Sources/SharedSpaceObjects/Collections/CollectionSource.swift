/// Turns changes of one kind of collection into its observers' form; a ``CollectionFeed`` decides when.
package protocol CollectionSource: Sendable {
    associatedtype Told: Sendable

    var name: String { get }
    var namespace: Namespace { get }

    /// The observer's form of a change, which may also be one of another collection.
    ///
    /// Throws an error if the observer's copy can only be brought up to date by a reset; the reset comes with the next
    /// change.
    func telling(of change: Change) throws(SpaceError) -> FeedStep<Told>

    /// The present state, and the number of the last change that it contains.
    ///
    /// Throws `closed` if the collection has been removed.
    func reset(for change: Change) throws(SpaceError) -> (told: Told, sequence: UInt64)

    /// Throws `closed` if the collection has been removed.
    func checkIsThere() throws(SpaceError)

    /// The last change of all: the collection is gone.
    func end(with change: Change) -> Told
}
