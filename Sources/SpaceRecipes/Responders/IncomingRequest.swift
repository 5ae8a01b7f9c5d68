import SpaceSystem
import TupleCoding

/// A request as the one who answers has it.
package struct IncomingRequest: Sendable {
    let asking: Asking
    package let position: ResponderPosition
    package let name: String
    /// One encoded element.
    package let argument: [UInt8]
    /// Milliseconds of the namespace's clock; 0: none.
    package let deadline: Int64
    /// Who is not to be asked with `next`.
    package let reached: [ResponderPosition]
    /// Who asks.
    package let pid: Int32
}
