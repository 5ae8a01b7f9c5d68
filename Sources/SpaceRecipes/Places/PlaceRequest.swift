/// A process's request for a place in the queue of a name.
///
/// It may use the disk reserve that is kept for removals, as claiming a tuple may: on a full disk it must be possible
/// to empty a queue, even under a lock. The row is removed when its session ends.
package struct PlaceRequest: Sendable {
    package let name: String
    package let kind: SharedObjectKind
    package let rules: any QueueRules
    package var isShared = false
    package var weight: UInt32 = 1
    /// When the wait ends by itself, in milliseconds of the namespace's clock; 0 if it does not.
    package var ends: Int64 = 0
    package var details = Value.null
    /// The tickets of holds that the asking task would keep from being released (`OwnHolds`).
    var own: Set<UInt64> = []
    /// What the details count ("permits"), if all users of the name must give the same number.
    package var unit: String?
}
