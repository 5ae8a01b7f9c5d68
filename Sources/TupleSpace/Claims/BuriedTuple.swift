import SpaceSystem
public import TupleCoding

/// A tuple that was set aside, by hand or because it had come back from claims too often.
public struct BuriedTuple: Sendable, Hashable {
    /// The tuple's id, which it keeps.
    public let id: TupleID
    /// The tuple.
    public let tuple: Tuple
    /// How often a claim on it came back.
    public let deliveries: Int
}
