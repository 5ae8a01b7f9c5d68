import LMDB
import TupleCoding

/// What somebody asks to hold.
package struct HoldRequest: Sendable {
    package let name: String
    package let kind: SharedObjectKind
    package var isShared = false
    package var weight: UInt32 = 1
    package var details = Value.null

    /// What asking demands: the row and its key; at a queue also the rows of the items that are served.
    ///
    /// It may use the room that is kept for removals, as claiming a tuple may: on a full disk a queue must be emptied, and
    /// be it under a lock. The row goes with who asks.
    package var demand: DiskReserve.Demand {
        let bytes = 2 * name.utf8.count + details.knownElement.count + 64
        return kind == .queue ? .removing(16, bytes: bytes + 4096) : .removing(1, bytes: bytes)
    }
}
