extension NamedNamespace {
    /// Calls a handler with each change; see ``Namespace/observe(_:options:on:onError:_:)``.
    ///
    /// The namespace is opened and held as when something is set, so that what other processes set later is told.
    public func observe<Selection: ChangeSelection>(
        _ selection: Selection,
        options: ObservationOptions = [.old, .new],
        _ handler: @escaping @isolated(any) @Sendable (Selection.Told) throws -> Void
    ) throws(SpaceError) -> ObservationToken {
        try opened().observe(selection, options: options, handler)
    }
}
