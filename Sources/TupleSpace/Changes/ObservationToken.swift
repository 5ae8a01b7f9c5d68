/// An observation.
///
/// An observation without an object lasts as long as its token is retained, and ends when the token is released. So
/// keep the token, in a property or an ``ObservationBag``. Each token stands for one observation only: assigning a new
/// token over an old one ends the old observation and leaves the new one.
///
/// An observation for an object lasts as long as the object. Its token need not be kept: its release ends nothing, and
/// ``cancel()`` ends this observation alone.
public final class ObservationToken: Sendable, Identifiable, CustomStringConvertible {
    package let observer: Observer
    private let core: NamespaceCore

    package init(_ observer: Observer, _ core: NamespaceCore) {
        self.observer = observer
        self.core = core
    }

    deinit { if observer.subject == nil { cancel() } }

    /// The observation's number, which no other observation of this process ever has.
    public var id: UInt64 { observer.id }

    /// Whether the observation is active; it also ends when the namespace is left or deleted, and never becomes
    /// active again.
    public var isActive: Bool { observer.isActive && !observer.isGone }

    /// What the token is, in one line: `observation 3: key a/b`.
    public var description: String { "observation \(observer)" }

    /// Ends the observation.
    ///
    /// May be called anywhere, even in the handler, and does not wait for the handler. No call begins after this
    /// returns, but a call that has begun on another thread may still be running. If the handler belongs to an actor
    /// and this is called on that actor, no call is running either. A second call does nothing.
    public func cancel() {
        // A child made by fork has nothing here to end. It also has the locks as they were, among them those of the Swift
        // runtime, which another thread may have held; so it does as little as it can.
        if !core.engine.isInherited { core.observations.end(observer, of: core) }
    }
}
