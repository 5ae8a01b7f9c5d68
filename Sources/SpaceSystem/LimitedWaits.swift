/// Waits of tasks, some of which have a limit, for use under a lock.
///
/// The waits share timers, because most waits end early, and a timer costs more than a wait. The timer of a wait that ended
/// early serves the next one. The caller starts each timer that ``add(_:_:until:)`` or ``ring(_:)`` returns, after it has
/// released the lock, and calls ``ring(_:)`` at the timer's moment.
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
    /// - Returns: The moment of a timer that the caller must start, or `nil` if an earlier timer is set.
    /// - Complexity: O(timers), which are one or two as a rule.
    package mutating func add(_ wait: Payload, _ number: UInt64, until limit: MonotonicInstant?) -> MonotonicInstant? {
        waits[number] = (wait, limit)
        return limit.flatMap { newTimer(at: $0) }
    }

    /// Removes a wait.
    ///
    /// - Returns: The wait; `nil` if it has ended already.
    package mutating func remove(_ number: UInt64) -> Payload? { waits.removeValue(forKey: number)?.wait }

    package mutating func removeAll() -> [Payload] {
        defer { waits = [:] }
        return waits.values.map(\.wait)
    }

    /// Ends the waits whose limit has come; called at a timer's moment.
    ///
    /// - Returns: The waits, and the moment of a timer that the caller must start, if one is needed.
    /// - Complexity: O(waits).
    package mutating func ring(_ timer: MonotonicInstant) -> (over: [Payload], timer: MonotonicInstant?) {
        timers.remove(timer)
        var over: [Payload] = []
        for (number, (wait, limit)) in waits where limit?.hasPassed ?? false {
            over.append(wait)
            waits[number] = nil
        }
        let first = waits.values.lazy.compactMap(\.limit).min()
        return (over, first.flatMap { newTimer(at: $0) })
    }

    /// Notes a timer for a limit, unless one is set for that moment or an earlier one.
    private mutating func newTimer(at limit: MonotonicInstant) -> MonotonicInstant? {
        if let earliest = timers.min(), earliest <= limit { return nil }
        timers.insert(limit)
        return limit
    }
}
