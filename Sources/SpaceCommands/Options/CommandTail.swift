import CommandWords

/// The command to run, after `--`.
struct CommandTail: ParsableArguments {
    @Tail(help: "<cmd> After '--': the command to run.")
    var words: [Word]?

    /// Whether there is no command.
    var isMissing: Bool { words == nil }

    var command: ChildCommand { ChildCommand(wordCount: words?.count ?? 0) }

    /// - Throws: `ValidationError` if there is no command.
    func require() throws {
        if isMissing {
            throw ValidationError("the command to run is missing: put '--' and the command at the end")
        }
    }
}
