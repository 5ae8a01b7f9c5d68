// Durations that are given for what lasts: expiries, delays, deadlines. A time-out is no such duration: a negative one, which
// "until then, less what has passed" gives, has passed.

extension NamespaceCore {
    /// Refuses a negative duration: it comes from a mistake in reckoning, and what it is given for would end at once.
    ///
    /// - Parameters:
    ///   - duration: The duration; `nil` is accepted.
    ///   - duty: What the duration is, in words.
    ///   - operation: What the caller attempts.
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
