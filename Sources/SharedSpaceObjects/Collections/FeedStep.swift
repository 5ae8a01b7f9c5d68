/// The result of a collection's change for an observer.
package enum FeedStep<Told> {
    case told(Told)
    /// The change belongs to another collection, or is not wanted.
    case nothing
    /// The change does not say enough: the observer needs the whole state.
    case reset
    /// The change can't be reported; the observer's copy is still right, apart from the entry that the error names.
    case failure(SpaceError)
}
