import SharedSpace

extension SpaceError {
    /// Whether the namespace does not exist: it was never created, or it was deleted.
    var isOfMissingNamespace: Bool { code == .namespaceNotFound || code == .namespaceDeleted }

    /// Whether the exit status says it all: there is no such namespace, or nothing was obtained in time.
    var isSaidByStatus: Bool { isOfMissingNamespace || code == .timedOut || code == .noResponder }
}
