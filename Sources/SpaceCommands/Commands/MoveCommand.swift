import ArgumentParser
import SharedSpace

/// The command `space move NS FROM TO`.
struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Take a tuple and write another, in one transaction.",
        discussion: """
            Takes the oldest tuple that matches FROM, writes TO, and prints what it took. Nobody sees the namespace with both, or \
            with neither. The status is 1 when nothing matches; then nothing is written.

            EXAMPLE:
              space move jobs '["job", 7, "queued"]' '["job", 7, "running"]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var status: StatusOptions
    @OptionGroup var matching: MatchOptions
    @OptionGroup var arguments: JSONArguments
    @OptionGroup var printing: PrintOptions

    @Argument(help: ArgumentHelp("The namespace.", valueName: "ns"), completion: .namespaces)
    var namespace: String

    @Argument(help: ArgumentHelp("The template of the tuple to take.", valueName: "from"))
    var from: String

    @Argument(help: ArgumentHelp("The tuple to write.", valueName: "to"))
    var to: String

    func run() throws {
        let template = try matching.template(from, arguments)
        let tuple = try JSONText.tuple(to, what: "the new tuple", arguments: try arguments.resolved())
        let access = try NamespaceAccess(common, namespace)
        let taken = try NamespaceAccess.use(try access.openExisting(owner: owner)) { namespace in
            try namespace.move(matching: template, to: tuple)
        }
        guard let taken else { throw status.nothingObtained }
        let output = Output()
        output.append(line: try printing.line(taken))
        try output.flush()
    }
}
