import ArgumentParser
import SharedSpace

/// The command `space show NS`.
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show what is in a namespace, and which processes own it or wait.",
        discussion: """
            Times in --json are milliseconds since 1970. The tuples and cells themselves are printed by space-dump.

            EXAMPLES:
              space show jobs
              space show jobs --json | jq '.owners[].pid'
            """
    )

    @OptionGroup var common: CommonOptions

    @Flag(help: "One JSON object.")
    var json = false

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    func run() throws {
        let status = try NamespaceAccess(common, namespace).use { try $0.status() }
        let report = StatusReport(status: status)
        try Output.print(lines: json ? [report.object.line] : report.text())
    }
}
