import CommandWords
import SpaceInspection

/// The command `space show NS`.
struct ShowCommand: ParsableCommand {
    static let commandName = "show"
    static let configuration = CommandConfiguration(
        abstract: "Show what is in a namespace, and which processes own it or wait.",
        isEssential: true,
        discussion: """
            Times in --json are milliseconds since 1970. The tuples and cells themselves are printed by 'space dump'.

            --graph, --dot and --svg show who waits for whom: for a lock, a permit, an election or the answer to a request, \
            and for the command that a process runs. Processes that wait for each other in a circle are named as a \
            deadlock, unless one of the waits has a time-out, or a command among them does something else than to wait: such circles \
            are told apart. Processes count, not threads: one that waits in one thread and works in another may be named too. \
            Circles through several namespaces are named by 'space top'.

            EXAMPLES:
              space show jobs
              space show jobs --json | jq '.owners[].pid'
              space show jobs --graph
              space show jobs --svg > waits.svg
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "One JSON object.")
    var json = false

    @Flag(help: "A tree of who waits for whom.")
    var graph = false

    @Flag(help: "Who waits for whom, for dot(1).")
    var dot = false

    @Flag(help: "Who waits for whom, as an SVG picture.")
    var svg = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func validate() throws {
        if [json, graph, dot, svg].count(where: { $0 }) > 1 {
            throw ValidationError("--json, --graph, --dot and --svg exclude each other")
        }
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        let (status, isApart) = try access.use { (try $0.status(), $0.isApart) }
        let replication = status.isReplicated ? ReplicationReport(of: namespace, in: access.space) : nil
        let report = StatusReport(status: status, replication: replication?.object, isApart: isApart)
        let waits = WaitReport(report.graph)
        let lines =
            if json {
                [report.object.json]
            } else if graph {
                waits.tree()
            } else if dot {
                WaitPicture(waits).dot()
            } else if svg {
                WaitPicture(waits).svg()
            } else {
                report.text(replication: replication, isDaemonAsked: true)
            }
        try Output.print(lines: lines)
    }
}
