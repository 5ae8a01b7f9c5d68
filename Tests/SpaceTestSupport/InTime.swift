/// The result of a wait that is expected to end in time.
extension Optional where Wrapped: ~Copyable {
    /// What was waited for; an error if the time has passed.
    package consuming func inTime() throws -> Wrapped {
        guard let self else { throw TestFailure("the time has passed") }
        return self
    }
}

/// Whether a wait ends because its time has passed; what it got is let go.
package func isLate<Held: ~Copyable>(_ wait: () throws -> Held?) rethrows -> Bool {
    guard let held = try wait() else { return true }
    _ = consume held
    return false
}

/// Whether a wait ends because its time has passed; what it got is let go.
package func isLate<Held: ~Copyable>(_ wait: () async throws -> Held?) async rethrows -> Bool {
    guard let held = try await wait() else { return true }
    _ = consume held
    return false
}
