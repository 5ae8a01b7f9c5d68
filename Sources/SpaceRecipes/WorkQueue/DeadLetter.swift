import LMDB
import SpaceSystem
public import TupleCoding

/// An item that came back too often, or was set aside.
public struct DeadLetter: Sendable, Hashable {
    /// Its number.
    public let id: UInt64
    /// The item.
    public let value: Value
    /// How often it came back.
    public let deliveries: Int
}
