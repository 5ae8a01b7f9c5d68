/// An observation that lasts as long as this token is retained.
///
/// The observation ends when the token is released, or at ``cancel()``. So keep the token, in a property or an
/// ``ObservationBag``. Each token stands for one observation only: assigning a new token over an old one ends the old
/// observation and leaves the new one.
public final class ObservationToken: Sendable, Identifiable {
    package let observer: Observer
    private let core: NamespaceCore

    package init(_ observer: Observer, _ core: NamespaceCore) {
        self.observer = observer
        self.core = core
    }

    deinit { cancel() }

    /// The observation's number, which no other observation of this process ever has.
    public var id: UInt64 { observer.id }

    /// Whether the observation is active; it also ends when the namespace is left or deleted, and never becomes
    /// active again.
    public var isActive: Bool { observer.isActive }

    /// Ends the observation.
    ///
    /// May be called anywhere, even in the handler, and does not wait for the handler. No call begins after this
    /// returns, but a call that has begun on another thread may still be running. If the handler belongs to an actor
    /// and this is called on that actor, no call is running either. Cancelling twice does nothing.
    public func cancel() { core.observations.end(observer, of: core) }
}

extension ObservationToken: Hashable {
    /// Whether both are the same token.
    public static func == (left: ObservationToken, right: ObservationToken) -> Bool { left === right }

    /// Hashes the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
