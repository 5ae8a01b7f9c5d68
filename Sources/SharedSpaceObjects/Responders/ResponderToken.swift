/// A registered responder.
///
/// A responder without an object is registered for as long as its token lives: when the token is released or
/// ``cancel()`` is called, the responder leaves the stack. So keep the token, in a property or an ``ObservationBag``.
/// Each token stands for one responder only: if you assign a new token over an old one, the old responder ends and the
/// new one stays.
///
/// A responder for an object lasts as long as the object. Its token need not be kept: its release ends nothing.
public final class ResponderToken: SpaceToken {
    /// The name that the responder answers to.
    public let name: String
    /// The responder's key: the one given at registration, or a UUID.
    public let key: String
    private let position: ResponderPosition
    private let core: NamespaceCore
    private let subject: Observer.Subject?

    init(_ responder: LocalResponder, _ core: NamespaceCore) {
        name = responder.name
        key = responder.key
        position = responder.position
        self.core = core
        subject = responder.subject
    }

    deinit { if subject == nil { cancel() } }

    /// The responder's number: no other responder of the namespace ever has the same.
    public var id: UInt64 { position.ticket }

    /// Whether the responder is still asked.
    ///
    /// It is no longer asked once any process has reused or removed its key, once the namespace was left or deleted, or
    /// once its object is gone.
    public var isActive: Bool { core.responderHub.isActive(position) && subject?.isAlive() ?? true }

    /// Takes the responder off the stack.
    ///
    /// This may be called anywhere, even in the handler. The handler finishes the requests that it has begun, and its
    /// replies count; the responder's other requests go to the next responder. A second call does nothing.
    public func cancel() { core.responderHub.end(position, of: core) }
}
