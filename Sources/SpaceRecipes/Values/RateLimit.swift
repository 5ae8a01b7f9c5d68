import SpaceSystem

/// At most a number of acquisitions in any interval of a given length, counted over all processes.
///
/// ```swift
/// try await api.rateLimit("requests", limit: 100, per: .seconds(60)).acquire()
/// ```
///
/// Each acquisition reserves the next free moment in one transaction, and then waits for that moment. So acquisitions
/// are served in the order in which they came. No process holds anything; if a process dies while it waits, its moment
/// is used up. As many processes as the limit says may pass at once; the next one passes one interval after the first
/// of them. So any interval, wherever it begins, contains at most as many moments as the limit. (If the machine wakes a
/// process late, the process passes later than its moment.)
public struct RateLimit: StoredObject, StateHandle {
    package let state: ObjectState
    /// The greatest number of acquisitions in an interval.
    package let limit: Int
    private let interval: Duration

    package init(_ name: String, limit: Int, interval: Duration, in namespace: Namespace) {
        state = ObjectState(namespace: namespace, name: name, kind: .rateLimit)
        self.limit = limit
        self.interval = interval
    }

    private static let operation = "acquire from a rate limit"
    package static let longestInterval = Duration.seconds(366 * 86_400)
    /// After so long a wait sees that its namespace was deleted or left.
    ///
    /// And a task that is cancelled in its sleep leaves some 700 bytes in the runtime, until the sleep would have ended.
    private static let longestSleep = Duration.seconds(1)
    /// The latest moment that is accepted, in nanoseconds: sums with greater numbers could overflow.
    package static let latest = 1 << 62

    /// Waits for a free moment without a limit.
    ///
    /// - Parameter count: How many acquisitions to make at once, from 1 to the limit.
    /// - Throws: `cancelled` if the task is cancelled; then the moment is given back, unless a later one has been
    ///   reserved since. `invalidArgument`; `typeMismatch` if the name belongs to another kind of object, or to a rate
    ///   limit of another size; and the errors of every write.
    public func acquire(_ count: Int = 1) async throws(SpaceError) {
        guard try await acquireSuspending(count, within: nil) else {
            throw SpaceError.limitReached(
                "the next free moment of the rate limit \(name.quotedForPeople) lies decades ahead",
                advice: "remove the rate limit, or give it another name"
            ).named(Self.operation, namespace.name)
        }
    }

    /// Waits for a free moment; `false` if none is free in time: then the call returns at once, and nothing is used up.
    ///
    /// - Throws: The same errors as ``acquire(_:)``.
    public func acquire(_ count: Int = 1, timeout: Duration) async throws(SpaceError) -> Bool {
        try await acquireSuspending(count, within: timeout)
    }

    private func acquireSuspending(_ count: Int, within timeout: Duration?) async throws(SpaceError) -> Bool {
        guard let reserved = try reserve(count, within: timeout) else { return false }
        guard reserved.delay > .zero else { return true }
        let moment = MonotonicInstant.now.advanced(by: reserved.delay)
        do {
            while !moment.hasPassed {
                try await Task.sleep(for: min(moment.remaining, Self.longestSleep))
                try namespace.attempt(Self.operation) { (core) throws(SpaceError) in try core.checkUsable() }
            }
        } catch {
            giveBack(reserved)
            let cancelled = SpaceError(.cancelled, reason: "the wait was cancelled")
            throw error as? SpaceError ?? cancelled.named(Self.operation, namespace.name)
        }
        return true
    }

    /// Waits for a free moment; `false` if none is free in time: then the call returns at once, and nothing is used up.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func acquire(_ count: Int = 1, timeout: Duration) throws(SpaceError) -> Bool {
        try acquireBlocking(count, timeout: timeout, interruption: nil)
    }

    /// Waits for a free moment, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
    package func acquireBlocking(
        _ count: Int,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Bool {
        guard let reserved = try reserve(count, within: timeout) else { return false }
        guard reserved.delay > .zero else { return true }
        do throws(SpaceError) {
            // Each reservation by any process wakes this thread, which then only checks the time: its own moment stays
            // reserved.
            let wait: ObjectWait<Void> = try state.wait(Self.operation, timeout: reserved.delay) { _ in nil }
            _ = try wait.block(interruption: interruption)
        } catch {
            giveBack(reserved)
            throw error
        }
        return true
    }

    /// Acquires if a moment is free now.
    ///
    /// - Parameter count: How many acquisitions to make at once, from 1 to the limit.
    /// - Returns: Whether a moment was free.
    /// - Throws: The same errors as ``acquire(_:)``.
    public func tryAcquire(_ count: Int = 1) throws(SpaceError) -> Bool {
        try reserve(count, within: .zero) != nil
    }

    // MARK: The next moment

    /// Checks the limit, and whether `count` acquisitions at once are within it.
    private func check(_ count: Int) throws(SpaceError) {
        let longest = Int(Self.longestInterval.saturatedNanoseconds)
        guard limit > 0, limit <= longest, interval > .zero, interval <= Self.longestInterval else {
            throw .badNumber(
                "\(limit) in \(interval) is no rate",
                advice: "give at least 1, and at most \(longest), in an interval of at most a year"
            )
        }
        guard (1...limit).contains(count) else {
            throw .badNumber(
                "\(count) at once can never be acquired: the limit is \(limit)",
                advice: "ask for at least one, and no more than the limit"
            )
        }
    }

    /// A reserved moment: the time until then, and the object's value before and after the reservation.
    private struct Reservation {
        let delay: Duration
        let before: Value?
        let after: Value?
    }

    /// Reserves the next moment; `nil` if that moment is later than the time-out.
    private func reserve(_ count: Int, within timeout: Duration?) throws(SpaceError) -> Reservation? {
        try namespace.core.naming(Self.operation) { () throws(SpaceError) in try check(count) }
        let longest = timeout.map { Int(max(.zero, $0).saturatedNanoseconds) } ?? .max
        return try state.change(Self.operation) { (value, snapshot) throws(SpaceError) -> Reservation? in
            let now = Int(snapshot.clock.milliseconds) * RateMoments.tick
            var moments = try moments(value, now)
            let delay = moments.reserve(count, now: now)
            guard delay <= longest, moments.last <= Self.latest else { return nil }
            let before = value
            value = moments.value(now)
            return Reservation(delay: .nanoseconds(delay), before: before, after: value)
        }
    }

    /// Gives a reserved moment back, if no later one was reserved.
    ///
    /// Reservations made after it do not move up. If there are any, the moment stays used up, and the limit is still
    /// kept.
    private func giveBack(_ reserved: Reservation) {
        try? state.change(Self.operation) { (value, _) throws(SpaceError) in
            if value == reserved.after { value = reserved.before }
        }
    }

    private func moments(_ value: Value?, _ now: Int) throws(SpaceError) -> RateMoments {
        let nanoseconds = Int(interval.saturatedNanoseconds)
        guard let value else { return RateMoments(limit: limit, interval: nanoseconds) }
        guard let moments = RateMoments(value, now) else {
            throw .damaged("the rate limit \(name.quotedForPeople)")
        }
        guard moments.limit == limit, moments.interval == nanoseconds else {
            throw state.mismatch(
                is: "\(moments.limit) in \(Duration.nanoseconds(moments.interval))",
                wanted: "\(limit) in \(interval)"
            )
        }
        return moments
    }
}

extension Namespace {
    /// The rate limit with a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    ///   - limit: The greatest number of acquisitions in any interval, and at once.
    ///   - interval: The interval, up to a year; all users of the name must give the same limit and interval.
    /// - Returns: The rate limit; nothing is written before a process acquires.
    public func rateLimit(_ name: String, limit: Int, per interval: Duration) -> RateLimit {
        RateLimit(name, limit: limit, interval: interval, in: self)
    }
}
