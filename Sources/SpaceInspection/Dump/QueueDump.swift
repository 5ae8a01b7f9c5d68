import SpaceSystem
import TupleCoding

/// A work queue in a dump.
package struct QueueDump: Sendable {
    package struct Item: Sendable {
        package let id: UInt64
        package let value: Value
        package let priority: Int
        /// The time from which a worker can or could get the item, in milliseconds since 1970; `nil`: at once.
        package let readyTime: Int64?
        package let group: String?
        package let deliveries: Int
        package let isDead: Bool
        /// The item's state at the time of the dump: `ready`, `taken`, `dead`, or another.
        package let state: String

        package init(
            id: UInt64,
            value: Value,
            priority: Int,
            readyTime: Int64?,
            group: String?,
            deliveries: Int,
            isDead: Bool,
            state: String = ""
        ) {
            self.id = id
            self.value = value
            self.priority = priority
            self.readyTime = readyTime
            self.group = group
            self.deliveries = deliveries
            self.isDead = isDead
            self.state = state
        }
    }

    package let name: String
    /// The number of deliveries after which an item is set aside; 0: never.
    package let deliveries: Int
    package var items: [Item]

    package init(name: String, deliveries: Int, items: [Item] = []) {
        self.name = name
        self.deliveries = deliveries
        self.items = items
    }
}
