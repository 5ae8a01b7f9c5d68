import TupleCoding

/// A process's request to hold a name.
package struct HoldRequest: Sendable {
    package let name: String
    package let kind: SharedObjectKind
    package var isShared = false
    package var weight: UInt32 = 1
    package var details = Value.null

    /// The disk space that a request may need: the row and its key; for a queue also the rows of the items that are
    /// served.
    ///
    /// The request may use the disk reserve that is kept for removals, as claiming a tuple may: on a full disk it must
    /// be possible to empty a queue, also under a lock. The row goes when its session ends.
    package var demand: DiskReserve.Demand {
        let bytes = 2 * name.utf8.count + details.knownElement.count + 64
        return kind == .queue ? .removing(16, bytes: bytes + 4096) : .removing(1, bytes: bytes)
    }
}
