extension SpaceError {
    /// Whether the namespace does not exist: it was never created, or it was deleted.
    package var isOfMissingNamespace: Bool { code == .namespaceNotFound || code == .namespaceDeleted }
}
