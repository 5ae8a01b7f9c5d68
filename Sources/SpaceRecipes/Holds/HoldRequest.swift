import LMDB
import TupleCoding

/// What somebody asks to hold.
struct HoldRequest: Sendable {
    let name: String
    let kind: SharedObjectKind
    var isShared = false
    var weight: UInt32 = 1
    var details = Value.null

    /// What asking demands: the row and its key; at a queue also the rows of the items that are served.
    ///
    /// It may use the room that is kept for removals, as claiming a tuple may: on a full disk a queue must be emptied, and
    /// be it under a lock. The row goes with who asks.
    var demand: DiskReserve.Demand {
        let bytes = 2 * name.utf8.count + details.knownElement.count + 64
        return kind == .queue ? .removing(16, bytes: bytes + 4096) : .removing(1, bytes: bytes)
    }
}
