import TupleCoding

// What handles are, in one line. They read nothing.

extension SharedLock: CustomStringConvertible {
    /// `lock "deploy" in namespace "jobs"`.
    public var description: String { namespace.describing(.lock, name) }
}

extension SharedSemaphore: CustomStringConvertible {
    /// `semaphore "downloads" of 4 permits in namespace "jobs"`.
    public var description: String {
        "semaphore \(name.quotedForPeople) of \(permits) permits in namespace \(namespace.name.quotedForPeople)"
    }
}

extension SharedBarrier: CustomStringConvertible {
    /// `barrier "ready" in namespace "build"`.
    public var description: String { namespace.describing(.barrier, name) }
}

extension SharedLatch: CustomStringConvertible {
    /// `latch "loaded" in namespace "build"`.
    public var description: String { state.namespace.describing(.latch, name) }
}

extension SharedCounter: CustomStringConvertible {
    /// `counter "number" in namespace "build"`.
    public var description: String { state.namespace.describing(.counter, name) }
}

extension RateLimit: CustomStringConvertible {
    /// `rate limit "requests" in namespace "api"`.
    public var description: String { state.namespace.describing(.rateLimit, name) }
}
