extension SpaceError {
    /// The error for a namespace that a root does not have.
    package static func noNamespace(in root: String, advice: String? = nil) -> SpaceError {
        SpaceError(
            .namespaceNotFound,
            reason: "there is no such namespace in \(root.quotedForPeople)",
            advice: advice
        )
    }

    /// The error for a root that was there before, and is gone.
    static func noRoot(_ root: SpaceRoot) -> SpaceError {
        SpaceError(.namespaceNotFound, reason: "the root \(root.path.quotedForPeople) does not exist")
    }
}
