import SpaceSystem
import TupleCoding

// One line for each operation, as with a shared space inside one process: the namespace is opened at the first use,
// and this process owns it until it exits or calls `letGo(of:)`.
//
//     try Space.default.write("resize", 42, to: "App")
//     let job = try Space.default.takeIfExists("resize", any(Int.self), from: "App")

extension Space {
    /// Writes a tuple to a namespace, which is created if necessary and owned by this process from then on.
    public func write<each F: TupleField>(_ field: repeat each F, to name: String) throws(SpaceError) {
        try held(name).write(repeat each field)
    }

    /// Writes an existing tuple to a namespace, which is created if necessary and owned by this process from then on.
    public func write(tuple: Tuple, to name: String) throws(SpaceError) {
        _ = try held(name).write(tuple: tuple)
    }

    /// Reads the first tuple of a namespace that matches; `nil` if there is none, or no such namespace, which is not
    /// created.
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        from name: String
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try ifThere(name)?.readIfExists(repeat each matcher)
    }

    /// Takes the first tuple of a namespace that matches; `nil` if there is none, or no such namespace, which is not
    /// created.
    public func takeIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        from name: String
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try ifThere(name)?.takeIfExists(repeat each matcher)
    }

    /// Reads a tuple of a namespace as soon as one matches, without a time limit; a namespace that isn't there is not
    /// created, but waited for.
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        from name: String
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await awaiting(name) { (namespace) async throws(SpaceError) in
            try await namespace.read(repeat each matcher)
        }
    }

    /// Takes a tuple of a namespace as soon as one matches, without a time limit; a namespace that isn't there is not
    /// created, but waited for.
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        from name: String
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await awaiting(name) { (namespace) async throws(SpaceError) in
            try await namespace.take(repeat each matcher)
        }
    }

    /// Stops owning a namespace that a one-liner opened; if it has no other owner, it is deleted.
    public func letGo(of name: String) throws(SpaceError) {
        try held.remove(name)?.leave()
    }

    /// Waits in a namespace, as above, without a time limit.
    private func awaiting<Result>(
        _ name: String,
        _ body: (Namespace) async throws(SpaceError) -> Result
    ) async throws(SpaceError) -> Result {
        let result = try await awaiting(name, timeout: nil) { (namespace, _) async throws(SpaceError) -> Result? in
            try await body(namespace)
        }
        // Without a limit, no time passes.
        guard let result else { throw .cancelled }
        return result
    }
}
