import SpaceSystem
import TupleCoding

/// What becomes of a request that nobody is there to answer.
public enum AbsentResponder: Sendable {
    /// It is an error, at once.
    case fails
    /// It waits for a responder, within its time-out.
    case waits
}
