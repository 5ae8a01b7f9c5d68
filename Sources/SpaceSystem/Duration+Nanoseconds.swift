extension Duration {
    /// Whole nanoseconds, rounded towards zero, and clamped to the range of `Int64`.
    package var saturatedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, tooFar) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return tooFar ? (seconds < 0 ? .min : .max) : sum
    }

    /// Whole milliseconds, rounded up so that a short wait is no busy loop, and clamped to the range of poll(2) and
    /// epoll.
    package var pollMilliseconds: CInt {
        let nanoseconds = max(0, saturatedNanoseconds)
        let milliseconds = nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 == 0 ? 0 : 1)
        return CInt(clamping: milliseconds)
    }
}
