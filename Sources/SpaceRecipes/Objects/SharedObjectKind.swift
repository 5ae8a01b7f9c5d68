/// The kind of a named object; all processes that use a name must mean the same kind.
///
/// All kinds share one set of names: a lock and a collection can't have the same name at the same time.
///
/// The raw value is the kind's number in the namespace's files.
public enum SharedObjectKind: UInt8, CaseIterable, Sendable {
    /// An ordered set of elements of one type.
    case orderedSet = 1
    /// A dictionary of values of one type.
    case dictionary
    /// A counter.
    case counter
    /// A latch, which opens when it has been counted down.
    case latch
    /// A barrier, at which processes meet.
    case barrier
    /// A work queue.
    case queue
    /// A limit on the number of events in a time.
    case rateLimit
    /// A lock.
    case lock
    /// A semaphore.
    case semaphore
    /// An election of a leader.
    case election
    /// A name to whose requests handlers respond.
    case responder
    /// The requests that are not done.
    case request

    /// The name of the kind in JSON and in metrics, such as `rateLimit`.
    package var name: String { "\(self)" }

    /// Whether it holds elements of one type.
    package var isCollection: Bool { self == .orderedSet || self == .dictionary }

    /// The kind with its article, for errors and other texts: "a lock".
    package var phrase: String { "\(self == .orderedSet || self == .election ? "an" : "a") \(word)" }

    /// The kind without its article, for people: "lock", "rate limit".
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
