/// Waits of tasks, some of which have a limit, for use under a lock.
///
/// They share timers: a wait that ends early leaves its timer to the others, since most waits end early, and a timer of its
/// own would cost each of them more than the wait. Who adds a wait or has heard a timer starts the timer that is returned,
/// once the lock is released, and calls ``ring(_:)`` when its moment has come.
package struct LimitedWaits<Payload> {
    private var waits: [UInt64: (wait: Payload, limit: MonotonicInstant?)] = [:]
    private var last: UInt64 = 0
    /// The moments at which a timer rings.
    private var timers: Set<MonotonicInstant> = []

    package init() {}

    /// A number for a wait that is about to be added.
    package mutating func newNumber() -> UInt64 {
        last += 1
        return last
    }

    /// Adds a wait.
    ///
    /// - Returns: The moment at which a timer has to ring; `nil`: those that there are do.
    package mutating func add(_ wait: Payload, _ number: UInt64, until limit: MonotonicInstant?) -> MonotonicInstant? {
        waits[number] = (wait, limit)
        return limit == nil ? nil : newTimer()
    }

    /// Removes a wait.
    ///
    /// - Returns: The wait; `nil` if it has ended already.
    package mutating func remove(_ number: UInt64) -> Payload? { waits.removeValue(forKey: number)?.wait }

    package mutating func removeAll() -> [Payload] {
        defer { waits = [:] }
        return waits.values.map(\.wait)
    }

    /// Ends the waits whose limit has come, when a timer rings.
    ///
    /// - Returns: The waits, and the moment at which another timer has to ring.
    package mutating func ring(_ timer: MonotonicInstant) -> (over: [Payload], timer: MonotonicInstant?) {
        timers.remove(timer)
        var over: [Payload] = []
        for (number, (wait, limit)) in waits where limit?.hasPassed ?? false {
            over.append(wait)
            waits[number] = nil
        }
        return (over, newTimer())
    }

    private mutating func newTimer() -> MonotonicInstant? {
        guard let first = waits.values.lazy.compactMap(\.limit).min() else { return nil }
        if let earliest = timers.min(), earliest <= first { return nil }
        timers.insert(first)
        return first
    }
}
