import CommandWords
import SharedSpace

/// The command `space ttl NS KEY|ID`.
struct TTLCommand: ParsableCommand {
    static let commandName = "ttl"
    static let configuration = CommandConfiguration(
        abstract: "Print how many milliseconds a cell or a tuple has left.",
        discussion: """
            Prints null if it does not expire. The status is 1 when it isn't there; a claimed tuple is not there.

            EXAMPLES:
              space ttl jobs lease
              space ttl jobs 17
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var lasting: LastingOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "A cell's name, or a tuple's id.", completion: .keys)
    var subject: String

    func run() throws {
        // The outer optional says whether it is there, the inner one whether it expires.
        let left = try NamespaceAccess(common, namespace).use { (namespace) -> Duration?? in
            switch lasting.subject(subject) {
            case .cell(let key): try namespace.details(of: key).map(\.expiry)
            case .tuple(let id): try namespace.end(of: id).map { $0.timeLeft(namespace.core.clock) }
            }
        }
        guard let left else { throw status.nothingObtained }
        try Output.print(
            line: left.map { "\($0.components.seconds * 1000 + $0.components.attoseconds / 1_000_000_000_000_000)" }
                ?? "null"
        )
    }
}
