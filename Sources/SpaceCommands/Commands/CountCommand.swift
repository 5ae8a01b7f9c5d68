import CommandWords
import SharedSpace

/// The command `space count NS [TEMPLATE]`.
struct CountCommand: ParsableCommand {
    static let commandName = "count"
    static let configuration = CommandConfiguration(
        abstract: "Print how many tuples there are, or how many match.",
        discussion: """
            Nothing counted prints 0, and the status is 0.

            EXAMPLES:
              space count jobs
              space count jobs '["resize", "?1...100", "?"]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var matching: MatchOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "What to count, in JSON form (default: every tuple).")
    var template: String?

    func run() throws {
        let template = try template.map { try matching.template($0) } ?? .any
        let count = try NamespaceAccess(common, namespace).use { try $0.count(matching: template) }
        try Output.print(line: "\(count)")
    }
}
