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
    package var phrase: String { "\(self == .orderedSet || self == .election ? "an" : "a") \(word)" }

    /// The kind without its article: "lock".
    package var word: String {
        switch self {
        case .orderedSet: "ordered set"
        case .dictionary: "dictionary"
        case .counter: "counter"
        case .latch: "latch"
        case .barrier: "barrier"
        case .queue: "queue"
        case .rateLimit: "rate limit"
        case .lock: "lock"
        case .semaphore: "semaphore"
        case .election: "election"
        case .responder: "responder"
        case .request: "request"
        }
    }
}
