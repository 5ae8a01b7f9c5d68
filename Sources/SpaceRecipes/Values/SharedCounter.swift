/// A number that all processes can change; it begins with 0, and stays until it is removed.
///
/// ```swift
/// let number = try builds.counter("builds").add(1)
/// ```
public struct SharedCounter: StoredObject, StateHandle {
    package let state: ObjectState

    init(_ name: String, in namespace: Namespace) {
        state = ObjectState(namespace: namespace, name: name, kind: .counter) { $0 }
    }

    /// The counter's number.
    ///
    /// - Returns: The number; 0 if no process has changed it yet.
    /// - Throws: `typeMismatch` if the name belongs to another kind of object, and the errors of every read.
    /// - Complexity: O(log n), without a lock.
    public func value() throws(SpaceError) -> Int { try state.look("look at a counter", Self.number) }

    /// Adds to the number, in one step.
    ///
    /// - Parameter amount: The amount to add; it may be negative.
    /// - Returns: The sum.
    /// - Throws: `badData` if the sum doesn't fit 64 bits; `typeMismatch`, and the errors of every write.
    @discardableResult
    public func add(_ amount: Int = 1) throws(SpaceError) -> Int {
        try state.change("add to a counter") { (value, _) throws(SpaceError) in
            let (sum, overflow) = Self.number(value).addingReportingOverflow(amount)
            guard !overflow else { throw .overflow(Self.number(value), plus: amount) }
            value = .int(sum)
            return sum
        }
    }

    /// Sets the number.
    ///
    /// - Parameters:
    ///   - number: The new number.
    ///   - expected: The number that must be there for the change to happen, or `nil` for any.
    /// - Returns: Whether the number was set.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func set(_ number: Int, ifEquals expected: Int? = nil) throws(SpaceError) -> Bool {
        try state.change("set a counter") { (value, _) throws(SpaceError) in
            guard expected == nil || expected == Self.number(value) else { return false }
            value = .int(number)
            return true
        }
    }

    /// Waits without a limit until the number is at least as large as a bound.
    ///
    /// - Parameter bound: The bound.
    /// - Returns: The number.
    /// - Throws: `cancelled` if the task is cancelled; `typeMismatch`, and the errors of every read.
    public func wait(forAtLeast bound: Int) async throws(SpaceError) -> Int {
        try await reaching(bound, timeout: nil).suspend().orEnded()
    }

    /// Waits until the number is at least as large as a bound; `nil` if the time-out passes first.
    ///
    /// - Throws: The same errors as ``wait(forAtLeast:)``.
    public func wait(forAtLeast bound: Int, timeout: Duration) async throws(SpaceError) -> Int? {
        try await reaching(bound, timeout: timeout).suspend()
    }

    /// Waits until the number is at least as large as a bound; `nil` if the time-out passes first.
    ///
    /// Blocks the thread; otherwise it does the same as the asynchronous form.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func wait(forAtLeast bound: Int, timeout: Duration) throws(SpaceError) -> Int? {
        try reaching(bound, timeout: timeout).block()
    }

    private func reaching(_ bound: Int, timeout: Duration?) throws(SpaceError) -> ObjectWait<Int> {
        try state.wait("wait for a counter", timeout: timeout) { value in
            let number = Self.number(value)
            return number >= bound ? number : nil
        }
    }

    private static func number(_ value: Value?) -> Int { if case .int(let number) = value { number } else { 0 } }
}

extension Namespace {
    /// The counter with a name.
    ///
    /// - Parameter name: 1 to 240 bytes; all shared objects of the namespace share one set of names.
    /// - Returns: The counter; nothing is written before a process changes it.
    public func counter(_ name: String) -> SharedCounter { SharedCounter(name, in: self) }
}
