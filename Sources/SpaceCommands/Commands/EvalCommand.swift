import CommandWords
import SharedSpace
import SpaceSystem

/// The command `space eval NS -- CMD…`.
struct EvalCommand: ParsableCommand {
    static let commandName = "eval"
    static let configuration = CommandConfiguration(
        abstract: "Run a command, and write the tuple that it prints.",
        usage: "space eval [<options>] <ns> -- <cmd> ...",
        discussion: """
            Linda's live tuple: CMD computes it, prints it in JSON form, and when CMD has succeeded it is written. Creates the \
            namespace if need be. The status is CMD's (128 + n for a signal; 126 and 127 as the shell's); 1 when it printed no \
            tuple, or did not end within --wait: then it is killed, with all that it has started. If this process dies, \
            CMD is killed in the same way, and nothing is written.

            EXAMPLES:
              space eval jobs -- ./render scene.json &
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Tail(isRequired: true, help: "<cmd> After '--': the command to run.")
    var command: [Word]?

    func run() throws {
        try NamespaceAccess(common, namespace).use(for: owner, creating: creation) { namespace in
            _ = try namespace.write(tuple: try evaluated())
        }
    }

    /// The tuple that the command prints.
    private func evaluated() throws -> Tuple {
        let deadline = MonotonicInstant.deadline(after: wait?.timeout) ?? .distantFuture
        let right = CommandRight(until: deadline, grace: .zero)
        let (ending, output) = try ChildCommand(wordCount: command?.count ?? 0).runForOutput(
            input: .nothing,
            with: right
        )
        if !ending.isSuccess, deadline.hasPassed {
            throw status.nothingObtained("the command did not end in time; nothing was written")
        }
        // A command that prints more ends by SIGPIPE: that is no failure of its own.
        guard !output.isTooLong else {
            throw CommandFailure.badData(
                "the command prints more than \(Limits.valueBytes) bytes (64 MiB), the most that a tuple can have; "
                    + "nothing was written"
            )
        }
        try ending.passOn()
        try Signals.check()
        do throws(TupleCodingError) {
            return try Tuple(json: output.bytes)
        } catch {
            throw CommandFailure(
                status.nothingObtained.status,
                "the command's output is no tuple, and nothing was written: \(error)"
            )
        }
    }
}
