/// A latch that opens, and stays open, once it has been counted down a given number of times.
///
/// ```swift
/// let ready = jobs.latch("ready", count: 3)
/// try ready.countDown()              // each of three services
/// try await ready.wait()             // each process that needs all three
/// ```
///
/// The latch exists from the first count until it is removed, even after the processes that counted have ended.
public struct SharedLatch: StoredObject, StateHandle {
    package let state: ObjectState
    /// The number of counts that open the latch.
    private let count: Int

    init(_ name: String, count: Int, in namespace: Namespace) {
        state = ObjectState(namespace: namespace, name: name, kind: .latch) { value in
            if case .array(let numbers) = value, let left = numbers.last { left } else { .null }
        }
        self.count = count
    }

    /// The number of counts that remain; 0: the latch is open.
    ///
    /// - Returns: The number.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object, or to a latch with another count; and
    ///   the errors of every read.
    public func remaining() throws(SpaceError) -> Int {
        try state.look("look at a latch") { (value) throws(SpaceError) in try remaining(value) }
    }

    /// Counts the latch down, in one step.
    ///
    /// - Parameter amount: How many counts to make at once, from 1; any amount beyond the remaining counts is ignored.
    /// - Returns: The number of counts that remain.
    /// - Throws: `invalidArgument`, `typeMismatch`, and the errors of every write.
    @discardableResult
    public func countDown(by amount: Int = 1) throws(SpaceError) -> Int {
        try state.change("count a latch down") { (value, _) throws(SpaceError) in
            guard amount > 0 else { throw .badNumber("\(amount) does not count down") }
            let left = try remaining(value)
            let rest = amount >= left ? 0 : left - amount
            value = .array([.int(count), .int(rest)])
            return rest
        }
    }

    /// Waits without a limit until the latch is open.
    ///
    /// - Throws: `cancelled` if the task is cancelled; `typeMismatch`, and the errors of every read.
    public func wait() async throws(SpaceError) { try await opening(timeout: nil).suspend().orEnded() }

    /// Waits until the latch is open; `false` if the time-out passes first.
    ///
    /// - Throws: The same errors as ``wait()``.
    public func wait(timeout: Duration) async throws(SpaceError) -> Bool {
        try await opening(timeout: timeout).suspend() != nil
    }

    /// Waits until the latch is open; `false` if the time-out passes first.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func wait(timeout: Duration) throws(SpaceError) -> Bool {
        try waitBlocking(timeout: timeout, interruption: nil)
    }

    /// Waits until the latch is open, blocking the thread; if `timeout` is `nil`, only the interruption ends the wait.
    package func waitBlocking(timeout: Duration?, interruption: Interruption?) throws(SpaceError) -> Bool {
        try opening(timeout: timeout).block(interruption: interruption) != nil
    }

    private func opening(timeout: Duration?) throws(SpaceError) -> ObjectWait<Void> {
        try state.wait("wait for a latch", timeout: timeout) { (value) throws(SpaceError) in
            try remaining(value) == 0 ? () : nil
        }
    }

    private func remaining(_ value: Value?) throws(SpaceError) -> Int {
        guard count >= 0 else {
            throw .badNumber("\(count) is no number of times", advice: "give a count from 0")
        }
        guard let value else { return count }
        let numbers = try state.integers(value, count: 2)
        guard numbers[0] == count else { throw state.mismatch(is: "\(numbers[0])", wanted: "\(count)") }
        return numbers[1]
    }
}

extension Namespace {
    /// The latch with a name.
    ///
    /// - Parameters:
    ///   - name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    ///   - count: The number of counts that open it; all users of the name must give the same.
    /// - Returns: The latch; nothing is written before a process counts it down.
    public func latch(_ name: String, count: Int) -> SharedLatch { SharedLatch(name, count: count, in: self) }
}
