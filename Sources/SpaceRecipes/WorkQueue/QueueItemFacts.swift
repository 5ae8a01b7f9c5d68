/// The properties of an item of a queue, both for the worker that has it and for a look without a take.
public protocol QueueItemFacts: ~Copyable, Sendable {
    /// The item's number, which no other item in the namespace has.
    var id: UInt64 { get }
    /// The item's value.
    var value: Value { get }
    /// The item's group, or `nil` if it has none.
    var group: String? { get }
    /// The item's priority; higher ones are taken first.
    var priority: Int { get }
    /// How often the item had come back: 0 at its first delivery.
    var deliveries: Int { get }
}

/// A copy of an item: its row and its value.
package protocol ItemCopy: QueueItemFacts {
    var row: QueueItemRow { get }
    var stored: Value { get }
}

extension ItemCopy {
    /// The number.
    public var id: UInt64 { row.id }
    /// The value.
    public var value: Value { stored }
    /// The group, or `nil` if it has none.
    public var group: String? { row.group }
    /// The priority.
    public var priority: Int { Int(row.priority) }
    /// How often it had come back.
    public var deliveries: Int { Int(row.deliveries) }
}
