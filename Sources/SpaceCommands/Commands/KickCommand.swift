import CommandWords
import SharedSpace

/// The command `space kick NS [ID|TEMPLATE]`.
struct KickCommand: ParsableCommand {
    static let commandName = "kick"
    static let configuration = CommandConfiguration(
        abstract: "Put tuples that were buried back in their places.",
        discussion: """
            All of them, or those that a template matches, or the one of an id, which 'space claims --buried' shows. Their \
            deliveries are counted from 0 again. The status is 1 when there was none.

            EXAMPLES:
              space kick jobs
              space kick jobs '["resize", "?", "?"]' --max 10
              space kick jobs 7
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions

    @Option(help: "<number> At most so many, the oldest first.")
    var max: Int?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<id|template> A tuple's id, or what to put back, in JSON form.")
    var subject: String?

    func validate() throws {
        if let max, max < 1 { throw ValidationError("--max is a number from 1") }
    }

    func run() throws {
        let subject = try subject.map { try matching.subject($0) } ?? .template(.any)
        let hasFound = try NamespaceAccess(common, namespace).use { namespace in
            switch subject {
            case .id(let id): try namespace.kick(id: TupleID(rawValue: id))
            case .template(let template): try namespace.kick(matching: template, max: max ?? .max) > 0
            }
        }
        if hasFound { return }
        let reason =
            switch subject {
            case .id(let id): "no buried tuple has the id \(id)"
            case .template: "no tuple that matches is buried"
            }
        throw status.nothingObtained("nothing was put back: \(reason)")
    }
}
