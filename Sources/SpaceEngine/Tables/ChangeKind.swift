/// The kinds of change in a namespace.
///
/// The commands print a case by its name, which is therefore as fixed as its number.
public enum ChangeKind: UInt8, Sendable, CaseIterable {
    /// A tuple was written.
    case write = 1
    /// A tuple was taken.
    case take
    /// A tuple's time passed.
    case expire
    /// A tuple was claimed: it is invisible, and may return later.
    case claim
    /// A claim was completed: the tuple is gone.
    case complete
    /// A claimed tuple returned to its place.
    case `return`
    /// A tuple was buried after too many deliveries.
    case bury
    /// A cell was set.
    case set
    /// A cell was unset.
    case unset
    /// A notification was posted.
    case post
    /// Changes were dropped before this watcher read them: from `sequence` to the number in `Change.Event.gap(through:)`.
    case gap
    /// The namespace was deleted; this is the last change of all. It has no number of its own.
    case gone
    /// Elements came into an ordered set.
    case insert = 20
    /// Elements were removed from an ordered set.
    case remove
    /// An element of an ordered set was replaced.
    case replace
    /// Elements of an ordered set were moved.
    case move
    /// Two elements of an ordered set changed places.
    case exchange
    /// An ordered set was brought into another order.
    case sort
    /// An ordered set was changed by more than one change can describe: read its contents again.
    case reset
    /// An ordered set or a dictionary was removed as a whole.
    case discard
    /// The responders to a name have changed: one has come, has gone, or has replaced the one with its key.
    case respond = 40
    /// A lock, permits of a semaphore or leadership came to a holder.
    case hold
    /// A holder released a lock, permits or leadership, or has ended.
    case release
    /// A leader proclaimed a value.
    case proclaim
    /// The number of a counter, or the counts that remain of a latch, changed.
    case count
    /// Processes were found that wait for each other in a circle, so that none of them goes on by itself.
    case deadlock

    /// Whether this kind of change happens to what is held or counted by name.
    package var isOfObject: Bool {
        switch self {
        case .hold, .release, .proclaim, .count, .deadlock: true
        default: false
        }
    }

    /// Whether this kind of change happens to collections.
    package var isOfCollection: Bool {
        switch self {
        case .insert, .remove, .replace, .move, .exchange, .sort, .reset, .discard: true
        default: false
        }
    }
}
