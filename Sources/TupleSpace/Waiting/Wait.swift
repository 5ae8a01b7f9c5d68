package import SpaceSystem

/// How long a call waits for what it is to find.
@usableFromInline
package enum Wait: Sendable {
    /// It looks once.
    case none
    /// It looks until there is something, or the time has passed; zero looks once.
    case upTo(Duration)
    /// It looks until there is something.
    case forever

    /// A wait up to a time-out, or for ever without one.
    package init(timeout: Duration?) { self = timeout.map { .upTo($0) } ?? .forever }

    /// When the wait that begins now is over; `nil`: never.
    package var deadline: MonotonicInstant? {
        switch self {
        case .none: .now
        case .upTo(let duration): .now.advanced(by: duration)
        case .forever: nil
        }
    }
}

extension Optional where Wrapped: ~Copyable {
    /// The result of a wait without a time-out, which ends only with a result or an error.
    @usableFromInline
    package consuming func orEnded() throws(SpaceError) -> Wrapped {
        guard let self else { throw SpaceError(.cancelled, "wait", reason: "it ended without a result") }
        return self
    }
}
