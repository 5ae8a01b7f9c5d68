import ArgumentParser
import SharedSpace

/// The command `space eval NS -- CMD…`.
struct EvalCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "eval",
        abstract: "Run a command, and write the tuple that it prints.",
        usage: "space eval [<options>] <ns> -- <cmd> ...",
        discussion: """
            Linda's live tuple: CMD computes it, prints it in JSON form, and when CMD has succeeded it is written. Creates the \
            namespace if need be. The status is CMD's; 1 when it printed no tuple, or did not end within --wait. If this process \
            dies CMD is killed, and nothing is written.

            EXAMPLES:
              space eval jobs -- ./render scene.json &
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var status: StatusOptions

    @Argument(help: ArgumentHelp("The namespace.", valueName: "ns"), completion: .namespaces)
    var namespace: String

    @Argument(help: ArgumentHelp("After '--': the command to run.", valueName: "cmd"))
    var command: [String]

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        var timeout: Duration?
        if case .duration(let duration)? = waiting.wait { timeout = duration }
        let ending = try NamespaceAccess.use(try access.open(creating: creation, owner: owner)) { namespace in
            try Evaluation(command, in: namespace).run(timeout: timeout) { Signals.pending }
        }
        try Signals.check()
        if case .failed(let status) = ending { throw CommandFailure(ExitStatus(rawValue: status), nil) }
    }
}
