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
        orElse remedy: String
    ) -> SpaceError {
        SpaceError(
            .badData,
            reason: "\(what) does not decode as \(type): \(error)",
            advice: "see that all processes use the same type, or \(remedy)"
        )
    }

    /// The error for something that was ended before, and can be ended only once.
    package static func endedBefore(_ reason: String, advice: String) -> SpaceError {
        SpaceError(.invalidArgument, reason: reason, advice: advice)
    }
}
