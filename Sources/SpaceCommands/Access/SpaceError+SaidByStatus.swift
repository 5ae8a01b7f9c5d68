import SharedSpace

extension SpaceError {
    /// Whether the exit status says it all: there is no such namespace, or nothing was obtained in time.
    var isSaidByStatus: Bool { isOfMissingNamespace || code == .timedOut || code == .noResponder }
}
