extension SpaceError {
    /// The error for a transaction of a session whose machine does not take part; it may run again when it does.
    package static func memberEnded(_ reason: String) -> SpaceError {
        SpaceError(.memberEnded, reason: reason, advice: "look with: space machines")
    }

    /// The error for a commit that came after another machine's commit; the transaction can be repeated.
    static var outrun: SpaceError {
        SpaceError(
            .outrun,
            reason: "another machine has written first; nothing was changed",
            advice: "run the transaction again"
        )
    }
}
