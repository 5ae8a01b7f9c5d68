import ArgumentParser
import SharedSpace

/// The command `space read NS TEMPLATE…`.
struct ReadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "read",
        abstract: "Print the oldest tuple that matches, and leave it there.",
        discussion: """
            Of several templates it prints the oldest match of any, with --all or --max all matches or the first of them. Tries \
            once, unless --wait. The status is 1 when nothing matched or time passed, and 69 when there is no such namespace; \
            with --wait a missing namespace counts as nothing yet.

            EXAMPLES:
              space read jobs '["resize", "?int", "?"]'
              space read jobs --wait 5s '{"kind": "resize"}'
              space read jobs --all '"?"'
              space read jobs --max 10 '["resize", "?", "?"]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, parsing: .next, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions
    @OptionGroup var printing: PrintOptions

    @Flag(help: "Print all that match, the oldest first.")
    var all = false

    @Option(help: ArgumentHelp("Print up to so many that match, the oldest first.", valueName: "number"))
    var max: Int?

    @Flag(help: .newest) var newest = false

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: ArgumentHelp("What to look for, in JSON form.", valueName: "template"))
    var templates: [String]

    func validate() throws {
        if let max, max < 1 { throw ValidationError("--max is a number from 1") }
    }

    func run() throws {
        let templates = try templates.map { try matching.template($0) }
        let order = MatchOrder(newest: newest)
        let access = try NamespaceAccess(common, namespace)
        let found = try access.obtain(wait, for: owner) { (namespace, remaining) -> [Tuple]? in
            func first(_ patience: Patience) throws -> Tuple? {
                try namespace.find(anyOf: templates, isTaking: false, order, patience)
            }
            if !all, max == nil {
                let patience = remaining.map { Patience.waiting($0, Signals.interruption) }
                return try first(patience ?? .none).map { [$0] }
            }
            let tuples = try namespace.readAll(anyOf: templates, order: order, max: max ?? .max)
            guard tuples.isEmpty, let remaining else { return tuples.isEmpty ? nil : tuples }
            guard let first = try first(.waiting(remaining, Signals.interruption)) else { return nil }
            // More tuples may have come with the first; and it may be gone again, but it was there.
            let rest = try namespace.readAll(anyOf: templates, order: order, max: max ?? .max)
            return rest.isEmpty ? [first] : rest
        }
        guard let found else { throw status.nothingObtained }
        try Signals.check()
        let output = Output()
        for tuple in found { try output.print(try printing.line(tuple)) }
        try output.flush()
    }
}
