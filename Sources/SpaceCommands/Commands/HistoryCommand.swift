import CommandWords
import SpaceInspection

/// The command `space history NS [CHANGES[,BYTES]]`.
struct HistoryCommand: ParsableCommand {
    static let commandName = "history"
    static let configuration = CommandConfiguration(
        abstract: "Set how many changes are kept even without a watcher, or print it.",
        discussion: """
            Prints the history, one JSON value: null for none. With a number of changes, and of bytes if need be, it keeps so \
            many from now on (65,536 and 16 MiB by default); 'none' ends it. 'space watch --from' tells what \
            was kept.

            With --deadlocks it prints the deadlocks that the history, or a watcher, has kept, oldest first: their time, and \
            the processes and objects in order round the circle. A deadlock is told within seconds, once, while changes are \
            kept at all.

            EXAMPLES:
              space history jobs 100000
              space history jobs 1000,1048576
              space history jobs none
              space history jobs --deadlocks
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "Print the deadlocks that were kept.")
    var deadlocks = false

    @Flag(help: "With --deadlocks: one JSON object a line, as 'space watch' prints it.")
    var json = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<changes[,bytes]> How much to keep, or 'none'.")
    var amount: String?

    private var wanted: History? { amount.flatMap { History(argument: $0) } }

    func validate() throws {
        if deadlocks, amount != nil {
            throw ValidationError("--deadlocks prints, and sets nothing: leave out the amount")
        }
        if json, !deadlocks { throw ValidationError("--json is for --deadlocks; the history itself is JSON anyway") }
        if let amount, amount != "none", wanted == nil {
            throw ValidationError("'\(PeopleText.escaped(amount))' is no number of changes, nor 'none'")
        }
    }

    func run() throws {
        if deadlocks {
            let told = try NamespaceAccess(common, namespace).use { try $0.toldDeadlocks() }
            return try Output.print(
                lines: told.map(json ? { ChangeReport.line($0) } : { ChangeReport.text(ofDeadlock: $0) })
            )
        }
        let status = try NamespaceAccess(common, namespace).use { namespace -> NamespaceStatus? in
            guard amount == nil else {
                try namespace.setHistory(wanted)
                return nil
            }
            return try namespace.status()
        }
        guard let status else { return }
        try Output.print(line: (status.history?.object).json)
    }
}
