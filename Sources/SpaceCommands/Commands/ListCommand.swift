import CommandWords
import SpaceInspection

/// The command `space list`.
struct ListCommand: ParsableCommand {
    static let commandName = "list"
    static let configuration = CommandConfiguration(
        abstract: "List the namespaces.",
        isEssential: true,
        discussion: """
            Prints their names; --long and --json add what is in them. An empty list is no error. A namespace that can't \
            be looked at, because it is damaged, or of another format or PID namespace, is listed too, and standard error says \
            why; with --long and --json its line says damaged (status 74) or unusable (69).

            EXAMPLES:
              space list --long
              space list --json | jq -r 'select(.tuples > 1000).name'
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(name: [.customShort("l"), .customLong("long")], help: "A table with what is in them.")
    var long = false

    @Flag(
        help:
            "One JSON object a line: name, tuples, cells, owners, bytes, mode, persistent, queues, sets (ordered sets)."
    )
    var json = false

    /// How many rows of the table are aligned together: aligning all would print nothing before the last is known.
    private static let page = 200

    func validate() throws {
        if long && json { throw ValidationError("--long and --json exclude each other") }
    }

    func run() throws {
        let space = try common.space(mustExist: true)
        let survey = try space.survey()
        let names = survey.names
        guard long || json else {
            try Output.print(lines: names.lazy.map(PeopleText.escaped))
            return survey.tellOfDamage()
        }
        let output = Output()
        var rows = [StatusReport.summaryTitles]
        func printTable() throws {
            for line in PeopleText.table(rows) { try output.print(line) }
            try output.flush()
            rows.removeAll()
        }
        var firstFailure: SpaceError?
        try space.look(at: names) { (name, result) in
            switch result {
            case .success(let status):
                let report = StatusReport(status: status)
                if json { try output.print(report.summary) } else { rows.append(report.summaryRow) }
            case .failure(let error):
                // The others can still be listed.
                Messages.print("space: \(error)")
                firstFailure = firstFailure ?? error
                if json {
                    try output.print(StatusReport.failedSummary(name, error))
                } else {
                    rows.append(StatusReport.failedRow(name, error))
                }
            }
            if json { try output.flush() } else if rows.count >= Self.page { try printTable() }
        }
        if long, rows != [StatusReport.summaryTitles] { try printTable() }
        if let firstFailure { throw CommandFailure(ExitStatus(firstFailure.code), nil) }
    }
}
