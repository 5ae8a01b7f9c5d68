/// Keeps something that a namespace does for this process until it is cancelled: an observation, or a responder.
///
/// Both kinds go into an ``ObservationBag``.
public protocol SpaceToken: AnyObject, Sendable, Hashable, Identifiable where ID == UInt64 {
    /// Whether it lasts; it may also end by itself, and never becomes active again.
    var isActive: Bool { get }

    /// Ends it; a second call does nothing.
    func cancel()
}

extension SpaceToken {
    /// Whether both are the same token.
    public static func == (left: Self, right: Self) -> Bool { left === right }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension ObservationToken: SpaceToken {}
