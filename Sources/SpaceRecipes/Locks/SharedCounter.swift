import TupleCoding

/// A number that all processes count on; it begins with 0, and stays until it is removed.
///
/// ```swift
/// let number = try builds.counter("builds").add(1)
/// ```
public struct SharedCounter: Sendable {
    private let state: ObjectState

    init(_ name: String, in namespace: Namespace) {
        state = ObjectState(namespace: namespace, name: name, kind: .counter)
    }

    /// The name, in the namespace.
    public var name: String { state.name }

    /// The number.
    ///
    /// - Returns: 0 before somebody has counted.
    /// - Throws: `typeMismatch` when the name is something else, and what every read does.
    /// - Complexity: O(log n), without a lock.
    public func value() throws(SpaceError) -> Int { Self.number(try state.value("look at a counter")) }

    /// Adds, in one step.
    ///
    /// - Parameter amount: What, also below 0.
    /// - Returns: The sum.
    /// - Throws: `badData` for a sum beyond 64 bits; `typeMismatch`, and what every write does.
    @discardableResult
    public func add(_ amount: Int = 1) throws(SpaceError) -> Int {
        let operation = "add to a counter"
        return try state.change(operation) { (value, _) throws(SpaceError) in
            let (sum, overflow) = Self.number(value).addingReportingOverflow(amount)
            guard !overflow else {
                throw SpaceError(
                    .badData,
                    operation,
                    namespace: state.namespace.name,
                    reason: "\(Self.number(value)) and \(amount) make more than 64 bits hold"
                )
            }
            value = .int(sum)
            return sum
        }
    }

    /// Sets the number.
    ///
    /// - Parameters:
    ///   - number: The new one.
    ///   - expected: Only if it is this one; `nil`: whatever it is.
    /// - Returns: Whether it was set.
    /// - Throws: `typeMismatch`, and what every write does.
    @discardableResult
    public func set(_ number: Int, ifEquals expected: Int? = nil) throws(SpaceError) -> Bool {
        try state.change("set a counter") { (value, _) throws(SpaceError) in
            guard expected == nil || expected == Self.number(value) else { return false }
            value = .int(number)
            return true
        }
    }

    /// Waits until the number is at least so large.
    ///
    /// - Parameters:
    ///   - bound: How large.
    ///   - timeout: How long to wait; `nil`: no limit.
    /// - Returns: The number; `nil` when the time has passed.
    /// - Throws: `cancelled` when the task is; `typeMismatch`, and what every read does.
    public func wait(forAtLeast bound: Int, timeout: Duration? = nil) async throws(SpaceError) -> Int? {
        try await state.suspending("wait for a counter", timeout: timeout) { (value) throws(SpaceError) in
            Self.reached(value, bound)
        }
    }

    /// Waits until the number is at least so large.
    ///
    /// Blocks the thread; otherwise like the form for tasks.
    @available(*, noasync, message: "it blocks the thread; in async code await the other form")
    public func wait(forAtLeast bound: Int, timeout: Duration) throws(SpaceError) -> Int? {
        try state.blocking("wait for a counter", timeout: timeout, interruption: nil) { (value) throws(SpaceError) in
            Self.reached(value, bound)
        }
    }

    /// Removes it: who counts next begins with 0.
    ///
    /// - Throws: `typeMismatch`, and what every write does.
    public func remove() throws(SpaceError) {
        try state.change("remove a counter") { (value, _) throws(SpaceError) in value = nil }
    }

    private static func number(_ value: Value?) -> Int { if case .int(let number) = value { number } else { 0 } }

    private static func reached(_ value: Value?, _ bound: Int) -> Int? {
        let number = number(value)
        return number >= bound ? number : nil
    }
}

extension Namespace {
    /// The counter of a name.
    ///
    /// - Parameter name: 1 to 240 bytes, in the room of all shared objects' names.
    /// - Returns: The counter; nothing is written before somebody counts.
    public func counter(_ name: String) -> SharedCounter { SharedCounter(name, in: self) }
}
