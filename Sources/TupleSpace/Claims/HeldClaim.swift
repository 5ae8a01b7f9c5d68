import SpaceSystem
import Synchronization
public import TupleCoding

/// A claim as a plain value: what ``Claim/detach()`` gives, and what claiming within a transaction does.
///
/// It is ended with ``Namespace/complete(_:)``, ``Namespace/release(_:)`` or ``Namespace/bury(_:)``; unlike a ``Claim``, one
/// that is dropped stays claimed until its deadline, or until the process no longer uses the namespace.
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
}
