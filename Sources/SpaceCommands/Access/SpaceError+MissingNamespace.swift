import SharedSpace

extension SpaceError {
    /// Whether the namespace does not exist: it was never created, or it was deleted.
    var isOfMissingNamespace: Bool { code == .namespaceNotFound || code == .namespaceDeleted }
}
