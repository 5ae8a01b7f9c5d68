/// A responder, for as long as somebody holds this.
///
/// When the token goes, or at ``cancel()``, the responder leaves the stack. So keep it, in a property. Each token stands
/// for one responder only: assigning a new token over an old one ends the old responder and leaves the new one.
public final class ResponderToken: Sendable, Identifiable {
    /// What it answers to.
    public let name: String
    /// Its key: as it was given, or a UUID.
    public let key: String
    private let position: ResponderPosition
    private let core: NamespaceCore

    init(_ responder: LocalResponder, _ core: NamespaceCore) {
        name = responder.name
        key = responder.key
        position = responder.position
        self.core = core
    }

    deinit { cancel() }

    /// The responder's number: no other responder of the namespace has, or had, or will have it.
    public var id: UInt64 { position.ticket }

    /// Whether it is asked; it no longer is when its key was used anew or removed, in whichever process, and when the
    /// namespace was left or deleted.
    public var isActive: Bool { core.responders.isActive(position) }

    /// Takes the responder off the stack.
    ///
    /// May be called anywhere, in the handler too. What the handler has begun it goes on with, and its reply counts; what it
    /// was asked besides goes to the next responder. Cancelling twice does nothing.
    public func cancel() { core.responders.end(position, of: core) }
}

extension ResponderToken: Hashable {
    /// Whether both are the same token.
    public static func == (left: ResponderToken, right: ResponderToken) -> Bool { left === right }

    /// Feeds the number.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
