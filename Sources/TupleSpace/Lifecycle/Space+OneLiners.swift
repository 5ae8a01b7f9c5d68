import TupleCoding

extension Namespace {
    /// Whether the namespace still exists and this handle can be used.
    package var isAlive: Bool { (try? usableCore().checkUsable()) != nil }
}

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

    /// Reads a tuple of a namespace as soon as one matches, without a time limit.
    public func read<each M: Matcher>(
        _ matcher: repeat each M,
        from name: String
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await held(name).read(repeat each matcher)
    }

    /// Takes a tuple of a namespace as soon as one matches, without a time limit.
    public func take<each M: Matcher>(
        _ matcher: repeat each M,
        from name: String
    ) async throws(SpaceError) -> (repeat (each M).Matched) {
        try await held(name).take(repeat each matcher)
    }

    /// Stops owning a namespace that a one-liner opened; if it has no other owner, it is deleted.
    public func letGo(of name: String) throws(SpaceError) {
        try held.remove(name)?.leave()
    }

    /// A namespace that is created if need be, and that this process owns from then on.
    func held(_ name: String) throws(SpaceError) -> Namespace {
        try held.namespace(name, owning: true) { () throws(SpaceError) in try namespace(name) }
    }

    /// A namespace that exists, without owning it; `nil` if there is none.
    func ifThere(_ name: String) throws(SpaceError) -> Namespace? {
        do throws(SpaceError) {
            return try held.namespace(name, owning: false) { () throws(SpaceError) in
                try existingNamespace(name, owning: false)
            }
        } catch  where error.code == .namespaceNotFound {
            return nil
        }
    }
}
