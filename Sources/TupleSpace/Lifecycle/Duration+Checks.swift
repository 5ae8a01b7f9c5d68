// Checks of durations that describe how long something lasts: expiries, delays, deadlines. Time-outs are not checked:
// a negative time-out, which "the deadline minus the time passed" yields, simply has passed.

extension Duration {
    /// Refuses a negative duration: it comes from a miscalculation, and its subject would end at once.
    ///
    /// - Parameter duty: A description of the duration, for the error.
    /// - Throws: `invalidArgument` for a negative duration.
    @inline(__always)
    package func checkNotNegative(_ duty: String) throws(SpaceError) {
        if self < .zero { throw .negative(duty, self) }
    }
}
