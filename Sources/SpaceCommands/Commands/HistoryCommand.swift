import ArgumentParser
import SharedSpace

/// The command `space history NS [CHANGES[,BYTES]]`.
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Set how many changes are kept even without a watcher, or print it.",
        discussion: """
            Prints the history, one JSON value: null for none. With a number of changes, and of bytes if need be, it keeps so \
            many from now on (65,536 and 16 MiB by default); 'none' ends it. 'space watch --from' tells what \
            was kept.

            EXAMPLES:
              space history jobs 100000
              space history jobs 1000,1048576
              space history jobs none
            """
    )

    @OptionGroup var common: CommonOptions

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: ArgumentHelp("How much to keep, or 'none'.", valueName: "changes[,bytes]"))
    var amount: String?

    private var wanted: HistoryArgument? { amount.flatMap { HistoryArgument(argument: $0) } }

    func validate() throws {
        if let amount, amount != "none", wanted == nil {
            throw ValidationError("'\(PeopleText.escaped(amount))' is no number of changes, nor 'none'")
        }
    }

    func run() throws {
        let status = try NamespaceAccess(common, namespace).use { namespace -> NamespaceStatus? in
            guard amount == nil else {
                try namespace.setHistory(wanted?.history)
                return nil
            }
            return try namespace.status()
        }
        guard let status else { return }
        try Output.print(line: StatusReport.json(status.history))
    }
}
