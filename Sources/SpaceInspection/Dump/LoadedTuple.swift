/// A tuple that is loaded from a dump.
package struct LoadedTuple: Sendable {
    package let tuple: Tuple
    /// The time of expiry in milliseconds since 1970; `nil`: never.
    package let expires: Int64?
    /// Whether the tuple was buried, and is to be buried again.
    package let isBuried: Bool
    /// How often a claim on it came back.
    package let deliveries: UInt32
    /// By which process and when it was written.
    package let origin: Origin

    package init(
        tuple: Tuple,
        expires: Int64?,
        isBuried: Bool = false,
        deliveries: UInt32 = 0,
        origin: Origin = .unknown
    ) {
        self.tuple = tuple
        self.expires = expires
        self.isBuried = isBuried
        self.deliveries = deliveries
        self.origin = origin
    }
}
