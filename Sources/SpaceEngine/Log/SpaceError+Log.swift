extension SpaceError {
    /// The error for a transaction of a session whose machine does not take part; it may run again when it does.
    package static func memberEnded(_ reason: String) -> SpaceError {
        SpaceError(.memberEnded, reason: reason, advice: "look with: space machines")
    }

    /// The same, if the namespace shows that the member has ended or not begun.
    static var memberHasEnded: SpaceError {
        .memberEnded("this machine takes part no more, or not yet: its daemon has lost touch with the others")
    }

    /// The error for an entry of the members' log that is not the next one of a replica.
    package static func entryDoesNotFollow(_ entry: UInt64, _ last: UInt64) -> SpaceError {
        .damaged("entry \(entry) of the machines' log does not follow entry \(last) of the replica here")
    }

    /// The error for a transaction whose entry no log of several machines takes.
    static func tooLargeForAnEntry(_ bytes: Int) -> SpaceError {
        SpaceError(
            .transactionTooLarge,
            reason:
                "its changes have \(bytes) bytes, and one transaction of a namespace of several machines may have a MiB",
            advice: "write in smaller batches, or keep large values in files"
        )
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
