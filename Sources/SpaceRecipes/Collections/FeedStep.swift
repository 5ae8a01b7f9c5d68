import SpaceSystem
import Synchronization

/// What a collection's change comes to for an observer.
package enum FeedStep<Told> {
    case told(Told)
    /// It is none of the collection's, or not wanted.
    case nothing
    /// The change does not say enough: the observer needs all that is there.
    case reset
    /// It can't be told, and the observer's copy is right all the same but for what the error names.
    case failure(SpaceError)
}
