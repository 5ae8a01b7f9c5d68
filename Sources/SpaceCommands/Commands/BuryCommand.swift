import CommandWords
import SharedSpace

/// The command `space bury NS [ID|TEMPLATE]`.
struct BuryCommand: ParsableCommand {
    static let commandName = "bury"
    static let configuration = CommandConfiguration(
        abstract: "Bury tuples, out of every taker's way.",
        discussion: """
            A number is the id of a claim that 'claim --hold' made; anything else is a template, and all visible tuples that \
            match are buried. --after N says that a tuple which has come back from claims N times is buried from then on; \
            'none': never, as in a new namespace. What is buried is listed by 'space claims --buried', and put back by \
            'space kick'. The status is 1 when nothing matches, and 75 when the claim's tuple has returned.

            EXAMPLES:
              space bury jobs $id
              space bury jobs '["resize", "?", "?/^broken/"]'
              space bury jobs --after 5
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions

    @Option(help: "<number|none> Bury tuples after so many deliveries.")
    var after: String?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<id|template> A claim's id, or what to bury, in JSON form.")
    var subject: String?

    func validate() throws {
        if subject == nil, after == nil { throw ValidationError("name a claim's id or a template, or give --after") }
        if let after, after != "none", !Limits.deliveryLimits.contains(Int(after) ?? 0) {
            throw ValidationError("--after is a number from 1 to \(UInt32.max), or 'none'")
        }
    }

    func run() throws {
        let subject = try subject.map { try matching.subject($0) }
        let hasFound = try NamespaceAccess(common, namespace).use { namespace in
            var hasFound = true
            switch subject {
            case .id(let id)?: try namespace.bury(try namespace.claim(numbered: id, to: "bury a tuple"))
            case .template(let template)?: hasFound = try namespace.bury(matching: template) > 0
            case nil: break
            }
            // Last, so that a claim that is not there changes nothing.
            if let after { try namespace.setDeliveryLimit(Int(after)) }
            return hasFound
        }
        if !hasFound { throw status.nothingObtained("nothing was buried: no visible tuple matches") }
    }
}
