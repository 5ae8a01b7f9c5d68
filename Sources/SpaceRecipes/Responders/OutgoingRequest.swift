import LMDB
import TupleCoding

/// What is asked of whom.
struct OutgoingRequest: Sendable {
    let name: String
    /// One encoded element.
    let argument: [UInt8]
    /// Only responders below are asked.
    var below = ResponderPosition.top
    /// And none of these.
    var reached: [ResponderPosition] = []
    /// The request within whose handler it is asked.
    var within: Asking?
    /// What the one who answers is told: milliseconds of the namespace's clock; `nil`: no limit.
    var deadline: Int64?
}
