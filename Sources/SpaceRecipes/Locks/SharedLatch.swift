import TupleCoding

/// A gate that opens for good once it was counted down so often.
///
/// ```swift
/// let ready = jobs.latch("ready", count: 3)
/// try ready.countDown()              // each of three services
/// try await ready.wait()             // whoever needs all of them
/// ```
///
/// It is there from the first count on, also when those who counted have ended, until it is removed.
public struct SharedLatch: Sendable {
    private let state: ObjectState
    /// How often it is to be counted down.
    public let count: Int

    init(_ name: String, count: Int, in namespace: Namespace) {
        state = ObjectState(namespace: namespace, name: name, kind: .latch)
        self.count = count
    }

    /// The name, in the namespace.
    public var name: String { state.name }

    /// How often it is still to be counted down; 0: it is open.
    ///
    /// - Returns: The number.
    /// - Throws: `typeMismatch` when the name is something else, or a latch of another count, and what every read does.
    public func remaining() throws(SpaceError) -> Int {
        let operation = "look at a latch"
        return try remaining(try state.value(operation), operation)
    }

    /// Counts down, in one step.
    ///
    /// - Parameter amount: How many at once, from 1; what is more than remains is ignored.
    /// - Returns: How often it is still to be counted down.
    /// - Throws: `invalidArgument`, `typeMismatch`, and what every write does.
    @discardableResult
    public func countDown(by amount: Int = 1) throws(SpaceError) -> Int {
        let operation = "count a latch down"
        guard amount > 0 else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: state.namespace.name,
                reason: "\(amount) does not count down",
                advice: "give a number from 1"
            )
        }
        return try state.change(operation) { (value, _) throws(SpaceError) in
            let left = try remaining(value, operation)
            let rest = amount >= left ? 0 : left - amount
            value = .array([.int(count), .int(rest)])
            return rest
        }
    }

    /// Waits until it is open.
    ///
    /// - Parameter timeout: How long; `nil`: no limit.
    /// - Returns: Whether it is open; `false` when the time has passed.
    /// - Throws: `cancelled` when the task is; `typeMismatch`, and what every read does.
    @discardableResult
    public func wait(timeout: Duration? = nil) async throws(SpaceError) -> Bool {
        let operation = "wait for a latch"
        return try await state.suspending(operation, timeout: timeout) { (value) throws(SpaceError) in
            try remaining(value, operation) == 0 ? true : nil
        } ?? false
    }

    /// Waits until it is open.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func wait(timeout: Duration) throws(SpaceError) -> Bool {
        try waitBlocking(timeout: timeout, interruption: nil)
    }

    /// Blocks the thread; where `timeout` is `nil` there is no limit but the interruption.
    package func waitBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Bool {
        let operation = "wait for a latch"
        return try state.blocking(operation, timeout: timeout, interruption: interruption) {
            (value) throws(SpaceError) in
            try remaining(value, operation) == 0 ? true : nil
        } ?? false
    }

    /// Removes it: who counts next begins anew.
    ///
    /// - Throws: `typeMismatch`, and what every write does.
    public func remove() throws(SpaceError) {
        try state.change("remove a latch") { (value, _) throws(SpaceError) in value = nil }
    }

    private func remaining(_ value: Value?, _ operation: String) throws(SpaceError) -> Int {
        guard count >= 0 else {
            throw SpaceError(
                .invalidArgument,
                operation,
                namespace: state.namespace.name,
                reason: "\(count) is no number of times",
                advice: "give a count from 0"
            )
        }
        guard let value else { return count }
        let numbers = try state.integers(value, count: 2, operation)
        guard numbers[0] == count else { throw state.mismatch(operation, is: "\(numbers[0])", wanted: "\(count)") }
        return numbers[1]
    }
}

extension Namespace {
    /// The latch of a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes, in the room of all shared objects' names.
    ///   - count: How often it is to be counted down; all who use it mean the same.
    /// - Returns: The latch; nothing is written before somebody counts.
    public func latch(_ name: String, count: Int) -> SharedLatch { SharedLatch(name, count: count, in: self) }
}
