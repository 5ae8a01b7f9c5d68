import SpaceSystem
import Synchronization
import TupleCoding

/// A responder of this process.
struct LocalResponder: Sendable {
    let name: String
    let key: String
    let position: ResponderPosition
    let concurrency: Int
    /// The handle that it was made with, and keeps as long as it is there.
    let namespace: Namespace
    let body: @Sendable (IncomingRequest) async throws -> Value

    var handle: ObjectIdentifier { ObjectIdentifier(namespace) }

    func reply(to request: IncomingRequest) async -> Result<[UInt8], ResponderFailure> {
        do {
            return .success(try await body(request).encodedElement())
        } catch {
            return .failure(ResponderFailure(error))
        }
    }
}
