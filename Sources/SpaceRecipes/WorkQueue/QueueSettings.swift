/// What holds for a whole queue: the details of its row in `objects`, an array of three integers, and `true` if its numbers
/// were set.
package struct QueueSettings: Equatable, Sendable {
    /// The number of deliveries after which a returning item is buried; 0: never.
    package var deliveries: Int
    /// The greatest number of items that are not buried; 0: no bound.
    package var bound: Int
    /// The time until which no taker is served, milliseconds of the namespace's clock; 0: the queue is not paused.
    package var pausedUntil: Int64 = 0
    /// Whether the numbers were set, and count whatever the queue's handles say.
    package var isSet = false

    package init(deliveries: Int, bound: Int) {
        self.deliveries = deliveries
        self.bound = bound
    }

    /// Damaged details are those of a queue without limits.
    package init(_ details: Value) {
        guard case .array(let parts) = details, (3...4).contains(parts.count), case .int(let deliveries) = parts[0],
            case .int(let bound) = parts[1], case .int(let time) = parts[2]
        else {
            self.init(deliveries: 0, bound: 0)
            return
        }
        let counts = 0...Int(UInt32.max)
        self.init(
            deliveries: counts.contains(deliveries) ? deliveries : 0,
            bound: counts.contains(bound) ? bound : 0
        )
        pausedUntil = Int64(time)
        isSet = parts.count == 4
    }

    package var details: Value {
        .array([.int(deliveries), .int(bound), .int(Int(pausedUntil))] + (isSet ? [.bool(true)] : []))
    }

    package func isPaused(_ now: Int64) -> Bool { pausedUntil > now }
}
