import SpaceSystem
import TupleCoding

/// So many in any interval of a length, and no more, counted over all processes.
///
/// ```swift
/// try await api.rateLimit("requests", 100, per: .seconds(60)).acquire()
/// ```
///
/// Each acquisition reserves the next moment that is free, in one transaction, and then waits for it: so it is first come,
/// first served. Nothing is held, and a process that dies while it waits has used its moment up. As many as the limit may pass at
/// once; the next passes an interval after the first of them. So wherever an interval begins, no more moments than the limit
/// lie in it. (A process that the machine wakes late passes later than its moment.)
public struct RateLimit: Sendable {
    private let state: ObjectState
    /// How many in the interval.
    public let limit: Int
    /// The interval.
    public let interval: Duration

    package init(_ name: String, limit: Int, interval: Duration, in namespace: Namespace) {
        state = ObjectState(namespace: namespace, name: name, kind: .rateLimit)
        self.limit = limit
        self.interval = interval
    }

    /// The name, in the namespace.
    public var name: String { state.name }

    private static let operation = "acquire from a rate limit"
    package static let longestInterval = Duration.seconds(366 * 86_400)
    /// The latest moment that is understood, in nanoseconds: what is beyond can't be added to.
    package static let latest = 1 << 62

    /// Waits for a moment that is free.
    ///
    /// - Parameters:
    ///   - count: How many at once, from 1 to the limit.
    ///   - timeout: How long to wait at most; `nil`: no limit.
    /// - Returns: `false` when none is free in time: it says so at once, and nothing is used up.
    /// - Throws: `cancelled` when the task is, and then the moment is given back, unless somebody has reserved the one after it
    ///   meanwhile; `invalidArgument`; `typeMismatch` when the name is something else, or a limit of another size; and what
    ///   every write does.
    @discardableResult
    public func acquire(_ count: Int = 1, timeout: Duration? = nil) async throws(SpaceError) -> Bool {
        guard let reserved = try reserve(count, within: timeout) else { return false }
        guard reserved.delay > .zero else { return true }
        do {
            try await Task.sleep(for: reserved.delay)
        } catch {
            giveBack(reserved)
            throw SpaceError(
                .cancelled,
                Self.operation,
                namespace: state.namespace.name,
                reason: "the wait was cancelled"
            )
        }
        return true
    }

    /// Waits for a moment that is free.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func acquire(_ count: Int = 1, timeout: Duration) throws(SpaceError) -> Bool {
        try acquireBlocking(count, timeout: timeout, interruption: nil)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func acquireBlocking(
        _ count: Int,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> Bool {
        guard let reserved = try reserve(count, within: timeout) else { return false }
        guard reserved.delay > .zero else { return true }
        do throws(SpaceError) {
            // Woken whenever somebody reserves, it only looks at the time: what it reserved is its own.
            let _: Void? = try state.blocking(
                Self.operation,
                timeout: reserved.delay,
                interruption: interruption
            ) { _ in nil }
        } catch {
            giveBack(reserved)
            throw error
        }
        return true
    }

    /// Acquires if a moment is free now.
    ///
    /// - Parameter count: How many at once, from 1 to the limit.
    /// - Returns: Whether it was free.
    /// - Throws: What ``acquire(_:timeout:)-(_,Duration?)`` does.
    public func tryAcquire(_ count: Int = 1) throws(SpaceError) -> Bool {
        try reserve(count, within: .zero) != nil
    }

    /// Removes it: what was used up is forgotten.
    ///
    /// - Throws: `typeMismatch`, and what every write does.
    public func remove() throws(SpaceError) {
        try state.change("remove a rate limit") { (value, _) throws(SpaceError) in value = nil }
    }

    // MARK: The moment that is next

    private func checkRate() throws(SpaceError) {
        let longest = Int(Self.longestInterval.saturatedNanoseconds)
        guard limit > 0, limit <= longest, interval > .zero, interval <= Self.longestInterval else {
            throw SpaceError(
                .invalidArgument,
                Self.operation,
                namespace: state.namespace.name,
                reason: "\(limit) in \(interval) is no rate",
                advice: "give at least 1, and at most \(longest), in an interval of at most a year"
            )
        }
    }

    /// What was reserved: how long to wait for it, and what stood there before and after.
    private struct Reservation {
        let delay: Duration
        let before: Value?
        let after: Value?
    }

    /// Reserves the next moment; `nil` when it is too late.
    private func reserve(_ count: Int, within timeout: Duration?) throws(SpaceError) -> Reservation? {
        try checkRate()
        guard (1...limit).contains(count) else {
            throw SpaceError(
                .invalidArgument,
                Self.operation,
                namespace: state.namespace.name,
                reason: "\(count) at once are never to be had of \(limit)",
                advice: "ask for at least one, and no more than the limit"
            )
        }
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

    /// Gives a reserved moment back, if it is still the last.
    ///
    /// Those who have reserved behind it do not move up. Then it stays used up, and the limit is kept all the same.
    private func giveBack(_ reserved: Reservation) {
        try? state.change(Self.operation) { (value, _) throws(SpaceError) in
            if value == reserved.after { value = reserved.before }
        }
    }

    private func moments(_ value: Value?, _ now: Int) throws(SpaceError) -> RateMoments {
        let nanoseconds = Int(interval.saturatedNanoseconds)
        guard let value else { return RateMoments(limit: limit, interval: nanoseconds) }
        guard let moments = RateMoments(value, now) else {
            throw .damaged(Self.operation, namespace: state.namespace.name, "the rate limit \(name.quotedForPeople)")
        }
        guard moments.limit == limit, moments.interval == nanoseconds else {
            throw state.mismatch(
                Self.operation,
                is: "\(moments.limit) in \(Duration.nanoseconds(moments.interval))",
                wanted: "\(limit) in \(interval)"
            )
        }
        return moments
    }
}

extension Namespace {
    /// The rate limit of a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes, in the room of all shared objects' names.
    ///   - limit: How many in any interval, and at once.
    ///   - interval: Up to a year; all who use the name mean the same.
    /// - Returns: The rate limit; nothing is written before somebody acquires.
    public func rateLimit(_ name: String, _ limit: Int, per interval: Duration) -> RateLimit {
        RateLimit(name, limit: limit, interval: interval, in: self)
    }
}
