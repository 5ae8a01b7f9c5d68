extension SpaceError {
    /// The error for text that is too long or empty; `what` names the text, with its article.
    package static func outOfRange(_ what: String, bytes: Int, most: Int) -> SpaceError {
        SpaceError(
            .tooLarge,
            reason: "\(what) of \(bytes) bytes is out of range",
            advice: "\(what) is 1 to \(most) bytes of UTF-8"
        )
    }

    /// The error for a name that is empty or too long; `what` says whose name it is.
    package static func badName(_ what: String = "the name", bytes: Int, most: Int) -> SpaceError {
        SpaceError(
            .invalidArgument,
            reason: "\(what) has \(bytes) bytes",
            advice: "give a name of 1 to \(most) bytes"
        )
    }

    /// The error for a number that means nothing.
    package static func badNumber(_ reason: String, advice: String = "give a number from 1") -> SpaceError {
        SpaceError(.invalidArgument, reason: reason, advice: advice)
    }

    /// The error for a duration that can't be negative; `duty` says what it is for, with its article.
    package static func negative(_ duty: String, _ duration: Duration) -> SpaceError {
        badNumber("\(duty) of \(duration) is negative", advice: "give zero or more; check how it was reckoned")
    }

    /// The error for something that is used where it has no meaning.
    package static func misuse(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.invalidArgument, reason: reason, advice: advice)
    }

    /// The error for a namespace that can't be used in this way, or not from here.
    package static func incompatible(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.incompatible, reason: reason, advice: advice)
    }

    /// The error for a number that doesn't fit the 64 bits of an integer.
    package static func overflow(_ number: Int, plus amount: Int) -> SpaceError {
        SpaceError(.badData, reason: "the sum of \(number) and \(amount) does not fit in 64 bits")
    }

    /// The error for something that is larger than its kind may be; `what` names it, with its article.
    package static func tooLarge(_ what: String, bytes: Int, most: Int, _ hint: String = "") -> SpaceError {
        SpaceError(
            .tooLarge,
            reason: "\(what) of \(bytes) bytes is too large",
            advice: "keep it to \(most) bytes\(hint)"
        )
    }

    /// The error for content that is larger than one value may be.
    package static func tooLarge(bytes: Int) -> SpaceError {
        SpaceError(
            .tooLarge,
            reason: "\(bytes) bytes are more than the limit of \(Limits.valueBytes) (64 MiB)",
            advice: "keep large data in a file, and its name in the tuple"
        )
    }

    /// The error for stored content of another type than the reader's.
    package static func doesNotDecode(
        _ what: String,
        as type: Any.Type,
        _ error: TupleCodingError,
        orElse remedy: String?
    ) -> SpaceError {
        SpaceError(
            .badData,
            reason: "\(what) does not decode as \(type): \(error)",
            advice: "see that all processes use the same type" + (remedy.map { ", or \($0)" } ?? "")
        )
    }

    /// The error for something that has reached its limit.
    package static func limitReached(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.limitReached, reason: reason, advice: advice)
    }

    /// The error for a file or folder that this process may not use.
    package static func permissionDenied(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.permissionDenied, reason: reason, advice: advice)
    }

    /// The error for a handle that no longer leads to its subject.
    package static func closed(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.closed, reason: reason, advice: advice)
    }

    /// The error for a handle that was left.
    package static var leftHandle: SpaceError {
        .closed("this handle was left", advice: "open another")
    }

    /// The error for a namespace that this process has left, or is about to leave.
    static var leftNamespace: SpaceError {
        .closed("this process has left the namespace", advice: "open it again")
    }

    /// The error for a wait that was cancelled.
    package static var cancelled: SpaceError {
        SpaceError(.cancelled, reason: "the wait was cancelled; nothing was taken")
    }
}
