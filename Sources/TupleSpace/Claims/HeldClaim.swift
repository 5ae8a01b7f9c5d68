/// A claim as a plain value, as ``Claim/detach()`` and claims within a transaction give it.
///
/// It is ended with ``Namespace/complete(_:keeping:)``, ``Namespace/release(_:delay:)`` or ``Namespace/bury(_:)``. Unlike a
/// ``Claim``, a value that goes out of scope leaves its tuple claimed until the deadline, or until the process no
/// longer uses the namespace.
public struct HeldClaim: Sendable, Hashable {
    /// The id of the tuple.
    public let id: TupleID
    /// The claim's number, which no other claim in the namespace ever has.
    public let number: UInt64
    /// The tuple.
    public let tuple: Tuple
    /// How often a claim on the tuple had come back before this one.
    public let deliveries: Int
}

extension HeldClaim {
    package init(_ id: TupleID, _ made: ClaimMade, _ tuple: Tuple) {
        self.init(id: id, number: made.number, tuple: tuple, deliveries: made.deliveries)
    }

    /// The claim of a row.
    package init(_ id: UInt64, _ number: UInt64, _ tuple: Tuple, deliveries: UInt32) {
        self.init(id: TupleID(rawValue: id), number: number, tuple: tuple, deliveries: Int(deliveries))
    }

    var key: ClaimKey { ClaimKey(id: id.rawValue, number: number) }
}
