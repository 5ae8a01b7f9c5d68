import ArgumentParser
import SharedSpace

/// The command `space request NS NAME [VALUE]`.
struct RequestCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "request",
        abstract: "Ask the responder of a name, and print the reply.",
        discussion: """
            Waits 5 s for a responder and its reply, or as long as --wait says; with --wait a missing namespace counts as \
            one without responders. --wait 0 asks once: it waits for a reply only if there is a responder already. The \
            status is 1 when no responder answers in time, and 76 when the responder failed; a line says which process was asked.

            EXAMPLES:
              space request jobs resize '{"file": "cat.png", "width": 640}'
              space request jobs status --wait 500ms || echo "nobody"
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var status: StatusOptions
    @OptionGroup var arguments: JSONArguments
    @OptionGroup var printing: RawOptions

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: "What is asked for.")
    var name: String

    @Argument(help: "What it is asked with, in JSON form (default: null).")
    var value: String?

    /// How long the command waits for a reply without `--wait`.
    private static let patience = Duration.seconds(5)

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .responder)
        let values = try arguments.resolved()
        let value = try value.map { try JSONText.value($0, what: "the value", arguments: values) } ?? .null
        let reply: Value?
        do {
            reply = try access.obtain(waiting.wait) { namespace, remaining in
                try ask(namespace, value, remaining)
            }
        } catch let error as SpaceError where error.code == .noResponder || error.code == .timedOut {
            throw CommandFailure(status.nothingObtained.status, "\(error)")
        }
        guard let reply else { throw status.nothingObtained }
        try Signals.check()
        try Output.print(line: printing.line(reply))
    }

    private func ask(_ namespace: Namespace, _ value: Value, _ remaining: Duration?) throws -> Value {
        let absent: AbsentResponder
        let timeout: Duration?
        switch (waiting.wait, remaining) {
        case (nil, _): (absent, timeout) = (.waits, Self.patience)
        // A responder that is there needs time to answer.
        case (_, nil): (absent, timeout) = (.fails, Self.patience)
        case (.unlimited, _): (absent, timeout) = (.waits, nil)
        case (_, let remaining): (absent, timeout) = (.waits, remaining)
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
