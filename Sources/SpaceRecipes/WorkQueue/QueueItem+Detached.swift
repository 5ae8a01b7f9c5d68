public import TupleCoding

extension QueueItem {
    /// A taken item as a plain value, which closures may keep; ``QueueItem/detach()`` makes it.
    ///
    /// Unlike a ``QueueItem``, a value that goes out of scope leaves its item taken, until its time to run is over or the
    /// process no longer uses the namespace. ``attach()`` makes it a ``QueueItem`` again, which ends it.
    public struct Detached: Sendable {
        private let row: QueueItemRow
        private let state: OwnPlace
        /// The item's value.
        public let value: Value

        init(_ row: QueueItemRow, _ value: Value, _ state: OwnPlace) {
            self.row = row
            self.value = value
            self.state = state
        }

        /// The item's number.
        public var id: UInt64 { row.id }

        /// Makes it an item again that returns to the queue unless it is completed.
        ///
        /// - Throws: `invalidArgument` if a copy of the value was made an item before.
        public func attach() throws(SpaceError) -> QueueItem { QueueItem(row, value, try state.attached()) }
    }
}
