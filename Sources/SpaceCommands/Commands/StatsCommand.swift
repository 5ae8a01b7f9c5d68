import CommandWords
import SpaceInspection

/// The command `space stats NS`.
struct StatsCommand: ParsableCommand {
    static let commandName = "stats"
    static let configuration = CommandConfiguration(
        abstract: "Show what takes up the room in a namespace.",
        discussion: """
            Counts the tuples by their first field and the types of the others, the cells by the first part of their keys (up \
            to / . or :), and the changes that are kept, with the watchers and subscriptions for which they are kept. It goes \
            through all tuples: that takes about a second for a million.

            In --json, sizes are bytes: of the tuples' and cells' rows, of the pages of each table, of all pages in use (bytes), \
            of the free ones among them (free), and of the files' blocks (disk).

            EXAMPLES:
              space stats jobs
              space stats jobs --json | jq '.tuples[0]'
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "One JSON object.")
    var json = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        let statistics = try NamespaceAccess(common, namespace).use { try $0.statistics() }
        let report = StatisticsReport(statistics: statistics)
        try Output.print(lines: json ? [report.object.json] : report.text())
    }
}
