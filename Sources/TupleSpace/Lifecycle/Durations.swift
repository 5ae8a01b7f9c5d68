// Checks of durations that describe how long something lasts: expiries, delays, deadlines. Time-outs are not checked:
// a negative time-out, which "the deadline minus the time passed" yields, simply has passed.

extension NamespaceCore {
    /// Refuses a negative duration: it comes from a miscalculation, and its subject would end at once.
    ///
    /// - Parameters:
    ///   - duration: The duration; `nil` is accepted.
    ///   - duty: A description of the duration, for the error.
    ///   - operation: The operation that the caller attempts.
    /// - Throws: `invalidArgument` for a negative duration.
    @inline(__always)
    package func checkNotNegative(_ duration: Duration?, _ duty: String, _ operation: String) throws(SpaceError) {
        if let duration, duration < .zero { throw negative(duration, duty, operation) }
    }

    private func negative(_ duration: Duration, _ duty: String, _ operation: String) -> SpaceError {
        SpaceError(
            .invalidArgument,
            operation,
            namespace: name.text,
            reason: "\(duty) of \(duration) is negative",
            advice: "give zero or more; check how it was reckoned"
        )
    }
}
