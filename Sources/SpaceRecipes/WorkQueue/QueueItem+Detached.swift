extension QueueItem {
    /// A taken item as a plain value, which closures may keep; ``QueueItem/detach()`` makes it.
    ///
    /// Unlike a ``QueueItem``, a value that goes out of scope leaves its item taken, until its time to run is over or the
    /// process no longer uses the namespace. ``attach()`` makes it a ``QueueItem`` again, which ends it.
    public struct Detached: QueueItemFacts, ItemCopy {
        package let row: QueueItemRow
        package let stored: Value
        private let state: OwnPlace

        init(_ row: QueueItemRow, _ value: Value, _ state: OwnPlace) {
            self.row = row
            stored = value
            self.state = state
        }

        /// The same item without its value, for a caller who has the value elsewhere and keeps the item for long.
        package func withoutValue() -> Detached { Detached(row, .null, state) }

        /// Makes the value a ``QueueItem`` again, which returns to the queue unless it is completed.
        ///
        /// - Throws: `invalidArgument` if a copy of the value was made an item before.
        public func attach() throws(SpaceError) -> QueueItem { QueueItem(row, value, try state.attached()) }
    }
}
