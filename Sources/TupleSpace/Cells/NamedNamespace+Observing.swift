extension NamedNamespace {
    /// Calls a handler with each change; see ``Namespace/observe(_:options:on:onError:_:)``.
    ///
    /// The namespace is opened and held as when something is set, so that what other processes set later is told.
    public func observe(
        _ selection: some ChangeSelection,
        options: ObservationOptions = [.old, .new],
        _ handler: @escaping @isolated(any) @Sendable (Change) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try opened().observe(selection, options: options, handler)
    }

    /// Calls a handler with the values of a cell before and after each change, decoded; see
    /// ``Namespace/observe(cell:as:options:on:onError:_:)``.
    public func observe<Content: Decodable & Sendable>(
        cell key: String,
        as type: Content.Type,
        options: ObservationOptions = [.old, .new],
        _ handler: @escaping @isolated(any) @Sendable ((old: Content?, new: Content?)) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try opened().observe(cell: key, as: type, options: options, handler)
    }
}
