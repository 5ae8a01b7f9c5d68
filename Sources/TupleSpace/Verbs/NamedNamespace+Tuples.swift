import SpaceSystem
public import TupleCoding

// Tuples in one line, as with a shared space inside one process.

extension NamedNamespace {
    /// Writes a tuple to the namespace, which is created if necessary and held from then on.
    ///
    /// - Throws: What ``Namespace/write(_:expires:lifetime:)`` throws.
    public func write<each F: TupleField>(_ field: repeat each F) throws(SpaceError) {
        try opened().write(repeat each field)
    }

    /// Reads the first tuple that matches; `nil` if there is none, or no namespace, which is not created.
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try namespace(creates: false)?.readIfExists(repeat each matcher)
    }

    /// Takes the first tuple that matches; `nil` if there is none, or no namespace, which is not created.
    public func takeIfExists<each M: Matcher>(
        _ matcher: repeat each M
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        try namespace(creates: false)?.takeIfExists(repeat each matcher)
    }

    /// Reads a tuple as soon as one matches, without a time limit; a namespace that isn't there is not created, but waited
    /// for.
    ///
    /// - Throws: `cancelled` if the task is cancelled.
    public func read<each M: Matcher>(_ matcher: repeat each M) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await awaiting { (namespace) async throws(SpaceError) in try await namespace.read(repeat each matcher) }
    }

    /// Takes a tuple as soon as one matches, without a time limit; a namespace that isn't there is not created, but waited
    /// for.
    ///
    /// - Throws: `cancelled` if the task is cancelled; then nothing was taken.
    public func take<each M: Matcher>(_ matcher: repeat each M) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await awaiting { (namespace) async throws(SpaceError) in try await namespace.take(repeat each matcher) }
    }

    private func awaiting<Result>(
        _ body: (Namespace) async throws(SpaceError) -> Result
    ) async throws(SpaceError) -> Result {
        try await space.awaiting(name, timeout: nil) { (namespace, _) async throws(SpaceError) -> Result? in
            try await body(namespace)
        }.orEnded()
    }
}
