import SharedSpace

/// What ends a command other than success: a status, and what to tell people about it.
struct CommandFailure: Error {
    let status: ExitStatus
    /// Nil where the status says it all: nothing matched.
    let message: String?

    init(_ status: ExitStatus, _ message: String?) {
        self.status = status
        self.message = message
    }

    static func usage(_ message: String) -> CommandFailure { CommandFailure(.usage, message) }

    static func unknownCommand(_ word: String) -> CommandFailure {
        .usage("there is no command \(word.quotedForPeople): 'space --help' lists them")
    }

    static func badData(_ message: String) -> CommandFailure { CommandFailure(.badData, message) }
}
