/// An observation, for as long as somebody holds this.
///
/// When the token goes, or at ``cancel()``, the observation ends. So keep it, in a property or an ``ObservationBag``. Each token
/// stands for one observation only: assigning a new token over an old one ends the old observation and leaves the new one.
public final class ObservationToken: Sendable, Identifiable {
    package let observer: Observer
    private let core: NamespaceCore

    package init(_ observer: Observer, _ core: NamespaceCore) {
        self.observer = observer
        self.core = core
    }

    deinit { cancel() }

    /// The observation's number: no other observation of this process has, or had, or will have it.
    public var id: UInt64 { observer.id }

    /// Whether the observation goes on; it ends too when the namespace is left or deleted, and then the token is of no use.
    public var isActive: Bool { observer.isActive }

    /// Ends the observation.
    ///
    /// May be called anywhere, in the handler too, and does not wait for the handler: no call begins after this returns, while
    /// one that has begun on another thread may still be running. When the handler belongs to an actor and this is called
    /// there, none is. Cancelling twice does nothing.
    public func cancel() { core.observations.end(observer, of: core) }
}

extension ObservationToken: Hashable {
    /// Whether both are the same token.
    public static func == (left: ObservationToken, right: ObservationToken) -> Bool { left === right }

    /// Feeds the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
