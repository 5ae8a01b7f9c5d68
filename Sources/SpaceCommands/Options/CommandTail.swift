import ArgumentParser

/// The command to run, after `--`.
struct CommandTail: ParsableArguments {
    /// How many words after `--` are the command's, which `Words` adds; `nil` if there is no `--`.
    @Option(name: .customLong("command-words"), help: .hidden)
    var count: Int?

    @Argument(help: ArgumentHelp("After '--': the command to run.", valueName: "cmd"))
    var words: [String] = []

    /// Whether there is no command.
    var isMissing: Bool { count == nil }

    var command: ChildCommand { ChildCommand(wordCount: count ?? 0) }

    /// - Parameter subject: What is named before `--`: "the namespace and the name".
    /// - Throws: `ValidationError` if the words before `--` are too few or too many.
    func check(after subject: String) throws {
        guard let count else {
            guard let word = words.first else { return }
            throw ValidationError("'\(word)' is one word too many: put '--' before the command to run")
        }
        if count != words.count { throw ValidationError("before '--' there are \(subject)") }
    }

    /// - Throws: `ValidationError` if there is no command.
    func require() throws {
        if isMissing {
            throw ValidationError("the command to run is missing: put '--' and the command at the end")
        }
    }
}
