import CommandWords
import SharedSpace

/// The command `space move NS FROM TO`.
struct MoveCommand: ParsableCommand {
    static let commandName = "move"
    static let configuration = CommandConfiguration(
        abstract: "Take a tuple and write another, in one transaction.",
        discussion: """
            Takes the oldest tuple that matches FROM, writes TO, and prints what it took. No process sees the namespace with both, \
            and no watcher with neither. The status is 1 when nothing matches; then nothing is written. The tuple is printed first: \
            if it can't be, it stays in its place.

            EXAMPLE:
              space move jobs '["job", 7, "queued"]' '["job", 7, "running"]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions
    @OptionGroup var printing: PrintOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<from> The template of the tuple to take.")
    var from: String

    @Argument(help: "<to> The tuple to write.")
    var to: String

    /// Ends a transaction that is tried out and undone.
    private struct Rehearsed: Error {}

    func run() throws {
        let template = try matching.template(from)
        let tuple = try JSONText.tuple(to, what: "the new tuple", arguments: try matching.arguments.resolved())
        let access = try NamespaceAccess(common, namespace)
        let output = Output()
        try output.checkTaken()
        let hasFound = try access.use(for: owner) { namespace in
            guard let claim = try namespace.claimBriefly(matching: template, max: 1, isTake: true).first else {
                return false
            }
            do {
                output.append(line: try printing.line(claim.tuple))
                // A move that would fail, for lack of room for example, fails before anything is printed.
                do {
                    try namespace.repeatableTransaction { t in
                        try t.complete(claim)
                        try t.write(tuple: tuple)
                        throw Rehearsed()
                    }
                } catch is Rehearsed {}
                try output.flush()
                // If other processes have filled the namespace since, the new tuple takes the space kept for removals.
                try namespace.repeatableTransaction { t in
                    try t.complete(claim)
                    try t.write(inPlaceOfTaken: tuple)
                }
            } catch {
                try? namespace.release([claim], wasDelivered: false)
                throw error
            }
            return true
        }
        if !hasFound { throw status.nothingObtained }
    }
}
