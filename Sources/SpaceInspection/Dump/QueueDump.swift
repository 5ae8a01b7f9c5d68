/// A work queue in a dump.
package struct QueueDump: Sendable {
    package struct Item: Sendable {
        package let id: UInt64
        package let value: Value
        package let priority: Int
        /// The time from which a worker can or could get the item, in milliseconds since 1970; `nil`: at once.
        package let readyTime: Int64?
        package let group: String?
        /// The item's unique key.
        package let key: String?
        /// Why the item came back last or was buried.
        package let reason: String?
        package let deliveries: Int
        package let isBuried: Bool
        package let origin: Origin
        /// The item's state at the time of the dump: `ready`, `taken`, `buried`, or another.
        package let state: String

        package init(
            id: UInt64,
            value: Value,
            priority: Int,
            readyTime: Int64?,
            group: String?,
            key: String? = nil,
            reason: String? = nil,
            deliveries: Int,
            isBuried: Bool,
            origin: Origin = .unknown,
            state: String = ""
        ) {
            self.id = id
            self.value = value
            self.priority = priority
            self.readyTime = readyTime
            self.group = group
            self.key = key
            self.reason = reason
            self.deliveries = deliveries
            self.isBuried = isBuried
            self.origin = origin
            self.state = state
        }
    }

    package let name: String
    /// The number of deliveries after which an item is buried; 0: never.
    package let deliveries: Int
    /// The greatest number of items that are not buried; 0: no bound; `nil`: the dump does not say.
    package let bound: Int?
    package var items: [Item]

    package init(name: String, deliveries: Int, bound: Int? = nil, items: [Item] = []) {
        self.name = name
        self.deliveries = deliveries
        self.bound = bound
        self.items = items
    }
}
