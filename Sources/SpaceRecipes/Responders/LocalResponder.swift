/// A responder of this process.
package struct LocalResponder: Sendable {
    package let name: String
    package let key: String
    package private(set) var position: ResponderPosition
    let isBase: Bool
    let concurrency: Int
    /// The handle with which the responder was registered.
    package let handle: WeakObject<Namespace>
    /// The handle that the responder keeps as long as it is registered: the one it was registered with; or, for an
    /// object, one that does not keep the namespace alive.
    package let namespace: Namespace
    /// The object that the responder belongs to, if any.
    package let subject: Observer.Subject?
    package let body: @Sendable (IncomingRequest) async throws -> Value

    package init(
        name: String,
        key: String,
        position: ResponderPosition,
        isBase: Bool,
        concurrency: Int,
        handle: WeakObject<Namespace>,
        namespace: Namespace,
        subject: Observer.Subject?,
        body: @escaping @Sendable (IncomingRequest) async throws -> Value
    ) {
        self.name = name
        self.key = key
        self.position = position
        self.isBase = isBase
        self.concurrency = concurrency
        self.handle = handle
        self.namespace = namespace
        self.subject = subject
        self.body = body
    }

    /// The same responder at another position.
    func moved(to position: ResponderPosition) -> LocalResponder {
        var moved = self
        moved.position = position
        return moved
    }

    /// Whether the responder was registered with a handle; one that has been released was used for none.
    func isMade(with handle: ObjectIdentifier) -> Bool { self.handle.value.map(ObjectIdentifier.init) == handle }

    /// Whether the object that the responder belongs to is gone.
    var isGone: Bool { subject.map { !$0.isAlive() } ?? false }

    /// Whether the responder can no longer answer requests: its failures are then due to that.
    var hasLeft: Bool { isGone || (handle.value?.isLeft ?? false) || namespace.isLeft }

    package func reply(to request: IncomingRequest) async -> Result<[UInt8], ResponderFailure> {
        do {
            return .success(try await body(request).encodedElement())
        } catch {
            return .failure(ResponderFailure(error))
        }
    }
}
