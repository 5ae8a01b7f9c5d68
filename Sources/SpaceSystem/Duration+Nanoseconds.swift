extension Duration {
    /// Whole nanoseconds, rounded towards zero, at the ends of `Int64` when it doesn't fit.
    package var saturatedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, tooFar) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooFar ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole milliseconds, rounded up so that a short wait isn't a busy one, within what poll(2) and epoll take.
    package var pollMilliseconds: CInt {
        let nanoseconds = max(0, saturatedNanoseconds)
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return CInt(clamping: milliseconds)
    }
}
