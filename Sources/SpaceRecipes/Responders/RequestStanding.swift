import LMDB
import TupleCoding

/// How a request stands.
package enum RequestStanding: Sendable {
    /// Not answered, and this process is at work on it.
    case pending(Int32)
    /// By a process, with one encoded element.
    case answered(Int32, [UInt8])
    /// By a process, with its words.
    case failed(Int32, String)
    /// Nobody is left who has not been asked; of those who are there these were.
    case nobody(reached: [ResponderPosition])
}
