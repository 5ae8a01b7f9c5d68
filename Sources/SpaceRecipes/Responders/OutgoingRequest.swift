import LMDB
import TupleCoding

/// What is asked of whom.
package struct OutgoingRequest: Sendable {
    package let name: String
    /// One encoded element.
    package let argument: [UInt8]
    /// Only responders below are asked.
    package var below = ResponderPosition.top
    /// And none of these.
    package var reached: [ResponderPosition] = []
    /// The request within whose handler it is asked.
    var within: Asking?
    /// What the one who answers is told: milliseconds of the namespace's clock; `nil`: no limit.
    package var deadline: Int64?
}
