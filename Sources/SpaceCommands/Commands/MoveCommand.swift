import ArgumentParser
import SharedSpace

/// The command `space move NS FROM TO`.
struct MoveCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Take a tuple and write another, in one transaction.",
        discussion: """
            Takes the oldest tuple that matches FROM, writes TO, and prints what it took. No process sees the namespace with both, or \
            with neither. The status is 1 when nothing matches; then nothing is written. If the tuple that it took can't be \
            printed, it puts it back, unless TO has been taken by then.

            EXAMPLE:
              space move jobs '["job", 7, "queued"]' '["job", 7, "running"]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var status: StatusOptions
    @OptionGroup var matching: MatchOptions
    @OptionGroup var printing: PrintOptions

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: ArgumentHelp("The template of the tuple to take.", valueName: "from"))
    var from: String

    @Argument(help: ArgumentHelp("The tuple to write.", valueName: "to"))
    var to: String

    func run() throws {
        let template = try matching.template(from)
        let tuple = try JSONText.tuple(to, what: "the new tuple", arguments: try matching.arguments.resolved())
        let access = try NamespaceAccess(common, namespace)
        let output = Output()
        try output.checkTaken()
        let hasFound = try access.use(for: owner) { namespace in
            guard let taken = try namespace.move(matching: template, to: tuple) else { return false }
            do {
                output.append(line: try printing.line(taken))
                try output.flush()
            } catch {
                // The newest tuple that is equal is as good as the one that was written.
                _ = try? namespace.transaction { t in
                    guard try t.takeIfExists(matching: Template(tuple), order: .newestFirst) != nil else { return }
                    try t.write(tuple: taken)
                }
                throw error
            }
            return true
        }
        if !hasFound { throw status.nothingObtained }
    }
}
