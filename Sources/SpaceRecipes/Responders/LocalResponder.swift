import SpaceSystem
import TupleCoding

/// A responder of this process.
package struct LocalResponder: Sendable {
    package let name: String
    package let key: String
    package let position: ResponderPosition
    let concurrency: Int
    /// The handle with which the responder was registered; the responder keeps it as long as it is registered.
    package let namespace: Namespace
    package let body: @Sendable (IncomingRequest) async throws -> Value

    package var handle: ObjectIdentifier { ObjectIdentifier(namespace) }

    package func reply(to request: IncomingRequest) async -> Result<[UInt8], ResponderFailure> {
        do {
            return .success(try await body(request).encodedElement())
        } catch {
            return .failure(ResponderFailure(error))
        }
    }
}
