import CommandWords
import Glibc
import SharedSpaceObjects

/// The command `space request NS NAME [VALUE]`, and `space request --next [VALUE]` in the command of a responder.
struct RequestCommand: ParsableCommand {
    static let commandName = "request"
    static let configuration = CommandConfiguration(
        abstract: "Ask the responder of a name, and print the reply.",
        usage: """
            space request [<options>] <ns> <name> [<value>]
            space request --next [<options>] [<value>]
            """,
        discussion: """
            Waits 5 s for a responder and its reply, or as long as --wait says; with --wait a missing namespace counts as \
            one without responders. --wait 0 asks once: it waits for a reply, 5 s at most, only if there is a responder already. The \
            status is 1 when no responder answers in time, and 76 when the responder failed; a line says which process was asked.

            With --next, in a command that 'space respond' runs, it asks the responder below that one, with VALUE or else with the \
            argument that the command got, and waits as long as the request has time. The status is 1 when there is none below.

            EXAMPLES:
              space request jobs resize '{"file": "cat.png", "width": 640}'
              space request jobs status --wait 500ms || echo "nobody"
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var values: ValueOptions
    @Flag(name: .raw, help: .raw) var raw = false

    @Flag(help: "Ask the responder below the one that runs this command.")
    var next = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String?

    @Argument(help: "What is asked for.", completion: .objects(.responder))
    var name: String?

    @Argument(help: "What it is asked with, in JSON form (default: null).")
    var value: String?

    /// How long the command waits for a reply without `--wait`.
    private static let patience = Duration.seconds(5)

    /// The variable that names the request which a responder's command answers.
    static let variable = "SHARED_SPACE_REQUEST"

    func validate() throws {
        guard next else {
            if namespace == nil || name == nil { throw ValidationError("name the namespace and what is asked for") }
            return
        }
        // With --next the only word is the value.
        if name != nil { throw ValidationError("--next takes no namespace and no name, and one value at most") }
    }

    func run() throws {
        if next { return try requestNext() }
        guard let namespace, let name else { return }
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .responder)
        let value = try values.value(value, what: "the value") ?? .null
        try printReply {
            try access.obtain(wait) { namespace, remaining in try ask(namespace, name, value, remaining) }
        }
    }

    private func requestNext() throws {
        guard let request = Self.value(of: Self.variable), let name = Self.value(of: "SHARED_SPACE_NAMESPACE") else {
            throw CommandFailure.usage(
                "--next is for a command that 'space respond' runs: $\(Self.variable) is not set"
            )
        }
        let access = try NamespaceAccess(common, name)
        let value = try values.value(namespace, what: "the value")
        try printReply {
            try access.use { namespace in
                try namespace.requestNextBlocking(
                    of: request,
                    value: value,
                    timeout: wait?.timeout == .zero ? Self.patience : wait?.timeout,
                    interruption: Signals.interruption
                )
            }
        }
    }

    /// Asks, and prints the reply; none in time is nothing obtained.
    private func printReply(_ ask: () throws -> Value?) throws {
        // A responder may act, so its reply must be printable.
        try Output().checkTaken()
        let reply: Value?
        do {
            reply = try ask()
        } catch let error as SpaceError where error.code == .noResponder || error.code == .timedOut {
            throw status.nothingObtained("\(error)")
        }
        guard let reply else { throw status.nothingObtained }
        try Signals.check()
        try Output.print(line: PrintOptions.line(reply, raw: raw))
    }

    private static func value(of variable: String) -> String? { getenv(variable).map { String(cString: $0) } }

    private func ask(_ namespace: Namespace, _ name: String, _ value: Value, _ remaining: Duration?) throws -> Value {
        let absent: AbsentResponder
        let timeout: Duration?
        switch wait {
        case nil: (absent, timeout) = (.waits, Self.patience)
        case .unlimited: (absent, timeout) = (.waits, nil)
        // A responder that is there needs time to answer.
        case .duration(.zero): (absent, timeout) = (.fails, Self.patience)
        case .duration: (absent, timeout) = (.waits, remaining ?? .zero)
        }
        return try namespace.requestBlocking(
            name,
            value: value,
            ifAbsent: absent,
            timeout: timeout,
            interruption: Signals.interruption
        )
    }
}
