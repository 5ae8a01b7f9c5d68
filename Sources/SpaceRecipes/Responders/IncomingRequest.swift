import SpaceSystem
import TupleCoding

/// A request as the one who answers has it.
struct IncomingRequest: Sendable {
    let asking: Asking
    let position: ResponderPosition
    let name: String
    /// One encoded element.
    let argument: [UInt8]
    /// Milliseconds of the namespace's clock; 0: none.
    let deadline: Int64
    /// Who is not to be asked with `next`.
    let reached: [ResponderPosition]
    /// Who asks.
    let pid: Int32
}
