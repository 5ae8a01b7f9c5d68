extension SpaceError {
    /// The error for a name that belongs to another kind of object.
    package static func mismatch(_ name: String, _ kind: SharedObjectKind, wanted: SharedObjectKind) -> SpaceError {
        SpaceError(
            .typeMismatch,
            reason: "\(name.quotedForPeople) is \(kind.phrase), and was used as \(wanted.phrase)",
            advice: "use another name, or the same type everywhere"
        )
    }

    /// The error for the handle of an object that no longer exists; `what` names its kind, with the article.
    package static func removed(_ what: String, _ name: String) -> SpaceError {
        SpaceError(
            .closed,
            reason: "\(what) \(name.quotedForPeople) was removed",
            advice: "open it again to start afresh"
        )
    }
}
