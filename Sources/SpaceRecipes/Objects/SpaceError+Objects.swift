extension SpaceError {
    /// The error for an object that was made for another use than the caller's.
    package static func mismatch(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.typeMismatch, reason: reason, advice: advice)
    }

    /// The error for a name that belongs to another kind of object.
    package static func mismatch(_ name: String, _ kind: SharedObjectKind, wanted: SharedObjectKind) -> SpaceError {
        .mismatch(
            "\(name.quotedForPeople) is \(kind.phrase), and was used as \(wanted.phrase)",
            advice: "use another name, or the same type everywhere"
        )
    }

    /// The error for an object of the same kind that was made with other details than the caller's.
    package static func mismatch(
        _ kind: SharedObjectKind,
        _ name: String,
        is stands: String,
        wanted: String
    ) -> SpaceError {
        .mismatch(
            "\(kind.phrase), \(name.quotedForPeople), was made with \(stands), and is used with \(wanted)",
            advice: "use the same everywhere"
        )
    }

    /// The error for the handle of an object that no longer exists; `what` names its kind, with the article.
    package static func removed(_ what: String, _ name: String) -> SpaceError {
        .closed(
            "\(what) \(name.quotedForPeople) was removed",
            advice: "open it again to start afresh"
        )
    }
}
