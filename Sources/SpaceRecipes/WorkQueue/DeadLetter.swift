import SpaceSystem
public import TupleCoding

/// An item that was delivered too often, or that its worker set aside.
public struct DeadLetter: Sendable, Hashable {
    /// The item's number.
    public let id: UInt64
    /// The item's value.
    public let value: Value
    /// How often the item came back.
    public let deliveries: Int
}
