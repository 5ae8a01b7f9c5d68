import CommandWords
import SharedSpace

/// The command `space expire NS KEY|ID D`.
struct ExpireCommand: ParsableCommand {
    static let commandName = "expire"
    static let configuration = CommandConfiguration(
        abstract: "Set when a cell or a tuple vanishes.",
        usage: "space expire [<options>] <ns> <key|id> (<duration> | --never)",
        discussion: """
            The time counts from now, and may be shorter than what was left. --never lets it stay, also if it would have \
            vanished with a process. The status is 1 when it isn't there; a claimed tuple is not there.

            EXAMPLES:
              space expire jobs lease 30s
              space expire jobs lease --never
              space expire jobs 17 1h
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var lasting: LastingOptions

    @Flag(help: "It does not vanish by itself.")
    var never = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "A cell's name, or a tuple's id.", completion: .keys)
    var subject: String

    @Argument(help: "<duration> The time from now on.")
    var duration: Duration?

    func validate() throws {
        if never == (duration != nil) { throw ValidationError("give a duration, or --never") }
    }

    func run() throws {
        let found = try NamespaceAccess(common, namespace).use { namespace in
            switch (lasting.subject(subject), duration) {
            case (.cell(let key), let expires?): try namespace.renew(key, expires: expires)
            case (.cell(let key), nil): try namespace.persist(key)
            case (.tuple(let id), let expires?): try namespace.renew(id, expires: expires)
            case (.tuple(let id), nil): try namespace.persist(id)
            }
        }
        if !found { throw status.nothingObtained }
    }
}
