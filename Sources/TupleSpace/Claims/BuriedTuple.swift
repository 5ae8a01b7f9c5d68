/// A tuple that was buried, either by a call or because claims on it came back too often.
public struct BuriedTuple: Sendable, Hashable {
    /// The tuple's id, which it keeps when it is kicked.
    public let id: TupleID
    /// The tuple.
    public let tuple: Tuple
    /// How often a claim on it came back.
    public let deliveries: Int
}
