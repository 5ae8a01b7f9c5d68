/// What happens to a request if there is no responder to answer it.
public enum AbsentResponder: Sendable {
    /// The request fails at once.
    case fails
    /// The request waits for a responder, until its time-out at most.
    case waits
}
