import CommandWords
import SharedSpace

/// The command `space read NS TEMPLATE…`.
struct ReadCommand: ParsableCommand {
    static let commandName = "read"
    static let configuration = CommandConfiguration(
        abstract: "Print the oldest tuple that matches, and leave it there.",
        isEssential: true,
        discussion: """
            Of several templates it prints the oldest match of any, with --all or --max all matches or the first of them. Tries \
            once, unless --wait. The status is 1 when nothing matched or time passed, and 69 when there is no such namespace; \
            with --wait a missing namespace counts as nothing yet. \
            What is printed is of one moment up to 4 MiB; more is read in parts, each of a moment, so that it is printed at once \
            and nothing is held while it prints: a tuple that is taken meanwhile may be missing, one that is written since \
            does not come.

            EXAMPLES:
              space read jobs '["resize", "?int", "?"]'
              space read jobs --wait 5s '{"kind": "resize"}'
              space read jobs --all '"?"'
              space read jobs --max 10 '["resize", "?", "?"]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions
    @OptionGroup var printing: PrintOptions

    @Flag(help: "Print all that match, the oldest first.")
    var all = false

    @Option(help: "<number> Print up to so many that match, the oldest first.")
    var max: Int?

    @Flag(help: .newest) var newest = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<template> What to look for, in JSON form.")
    var templates: [String]

    func validate() throws {
        if let max, max < 1 { throw ValidationError("--max is a number from 1") }
    }

    func run() throws {
        let template = Template.anyOf(try templates.map { try matching.template($0) })
        let order = MatchOrder(newest: newest)
        let access = try NamespaceAccess(common, namespace)
        let output = Output()
        let hasFound = try access.obtain(wait, for: owner) { (namespace, remaining) -> Bool? in
            func first() throws -> Tuple? {
                try namespace.readBlocking(
                    matching: template,
                    order,
                    .upTo(remaining ?? .zero),
                    interruption: Signals.interruption
                )
            }
            if !all, max == nil {
                guard let tuple = try first() else { return nil }
                try output.print(try printing.line(tuple))
                return true
            }
            if try printAll(template, of: namespace, output) { return true }
            guard remaining != nil, let first = try first() else { return nil }
            // More tuples may have come with the first; and it may be gone again, but it was there.
            if try !printAll(template, of: namespace, output) { try output.print(try printing.line(first)) }
            return true
        }
        if hasFound == nil { throw status.nothingObtained }
        try Signals.check()
        try output.flush()
    }

    /// Prints all matches, part by part, so that memory is bounded; returns whether there were any.
    private func printAll(_ template: Template, of namespace: Namespace, _ output: Output) throws -> Bool {
        var hasFound = false
        do {
            try namespace.forEachPart(matching: template, order: MatchOrder(newest: newest), max: max ?? .max) {
                tuples in
                hasFound = true
                for tuple in tuples { try output.print(try printing.line(tuple)) }
                try output.flush()
            }
        } catch let error as SpaceError where hasFound && error.isOfMissingNamespace {
            // What was printed stays printed: a wait does not begin again.
            throw CommandFailure(.unavailable, "\(error)")
        }
        return hasFound
    }
}
