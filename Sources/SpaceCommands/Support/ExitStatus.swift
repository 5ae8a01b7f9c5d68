import SharedSpace

/// The exit statuses that scripts rely on; the numbers are those of sysexits.h, if it has one.
struct ExitStatus: RawRepresentable, Hashable, Sendable {
    let rawValue: Int32

    /// Done.
    static let done = ExitStatus(rawValue: 0)
    /// Nothing matched, not obtained, compare failed, or time passed.
    static let nothing = ExitStatus(rawValue: 1)
    /// A hook refuses the use of a tool: the status that coding agents' clients have for it.
    static let refusedByHook = ExitStatus(rawValue: 2)
    /// The command line can't be understood, or what it asks for is refused.
    static let usage = ExitStatus(rawValue: 64)
    /// Malformed JSON, template or name.
    static let badData = ExitStatus(rawValue: 65)
    /// No such namespace, or one that can't be used from here.
    static let unavailable = ExitStatus(rawValue: 69)
    /// A fault of this program.
    static let `internal` = ExitStatus(rawValue: 70)
    /// The storage or the output is full, or it fails.
    static let inputOutput = ExitStatus(rawValue: 74)
    /// Another process is in the way; trying again may help.
    static let tryAgain = ExitStatus(rawValue: 75)
    /// A responder failed.
    static let responderFailed = ExitStatus(rawValue: 76)
    /// Not permitted.
    static let permission = ExitStatus(rawValue: 77)
    /// The shell's status for a command that exists and can't be run.
    static let cannotExecute = ExitStatus(rawValue: 126)
    /// The shell's status for a command that doesn't exist.
    static let commandNotFound = ExitStatus(rawValue: 127)
}

extension ExitStatus {
    /// The one place where the library's errors become exit statuses.
    init(_ code: SpaceError.Code) {
        switch code {
        case .invalidArgument, .noOwner, .noSuchProcess:
            self = .usage
        case .invalidName, .badData, .tooLarge, .transactionTooLarge, .typeMismatch:
            self = .badData
        case .namespaceNotFound, .namespaceDeleted, .incompatible, .subscriptionEnded:
            self = .unavailable
        case .damaged, .storageFull, .limitReached, .readersExhausted, .descriptorsExhausted, .inputOutput:
            self = .inputOutput
        case .holderStopped, .holderBusy, .claimLost, .holdLost, .clusterUnavailable, .outcomeUnknown, .outrun,
            .wouldDeadlock:
            self = .tryAgain
        case .responderFailed:
            self = .responderFailed
        case .permissionDenied:
            self = .permission
        case .cancelled, .timedOut, .noResponder, .evaluationFailed:
            self = .nothing
        case .forked, .closed, .memberEnded:
            // They can only come from a mistake in a command.
            self = .internal
        }
    }
}
