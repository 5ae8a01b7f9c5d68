import TupleCoding

/// The kind of a named object; all processes that use a name must mean the same kind.
///
/// All kinds share one set of names: a lock and a collection can't have the same name at the same time.
package enum SharedObjectKind: UInt8, CaseIterable, Sendable {
    case orderedSet = 1
    case dictionary
    case counter
    case latch
    case barrier
    case queue
    case rateLimit
    case lock
    case semaphore
    case election
    case responder
    case request

    /// Whether it holds elements of one type.
    package var isCollection: Bool { self == .orderedSet || self == .dictionary }

    /// The kind with its article, for errors and other texts: "a lock".
    package var phrase: String {
        switch self {
        case .orderedSet: "an ordered set"
        case .dictionary: "a dictionary"
        case .counter: "a counter"
        case .latch: "a latch"
        case .barrier: "a barrier"
        case .queue: "a queue"
        case .rateLimit: "a rate limit"
        case .lock: "a lock"
        case .semaphore: "a semaphore"
        case .election: "an election"
        case .responder: "a responder"
        case .request: "a request"
        }
    }
}
