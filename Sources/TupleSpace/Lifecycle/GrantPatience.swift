import Synchronization

/// How long takers of this process leave a tuple to the older taker that was granted it, and may be stopped.
package enum GrantPatience {
    private static let isLong = Atomic<Bool>(false)

    /// Makes the takers of this process leave it for as long as a test takes.
    ///
    /// For tests of the order of thousands: on a busy machine a taker that is not stopped may not run for a second either.
    package static func lengthen() { isLong.store(true, ordering: .relaxed) }

    static var duration: Duration { isLong.load(ordering: .relaxed) ? .seconds(86_400) : .seconds(1) }
}
