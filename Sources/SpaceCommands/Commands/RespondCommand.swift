import ArgumentParser
import SharedSpace
import SpaceSystem

/// The command `space respond NS NAME -- CMD…`.
///
/// The responder goes with this process. If this process dies, CMD dies too, with all that CMD has started, and the
/// next responder gets the request that CMD was at work on. They also end when the request ends.
struct RespondCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "respond",
        abstract: "Answer requests of a name with a command's output.",
        usage: "space respond [<options>] <ns> <name> -- <cmd> ...",
        discussion: """
            CMD runs for each request, one after the other. It gets the argument, in JSON form, on its standard input, and what \
            it prints is the reply: a JSON value, null if it prints nothing, or with --raw a string. If its status is not 0 the request \
            fails, and the process that asks learns the status. When the time of the process that asks is over, or it dies, CMD gets SIGTERM, \
            and SIGKILL a second later, together with all that it has started; then the next request is answered.

            The newest responder of a name answers. One with the same key is replaced; this command then ends, as it does when its \
            key is removed, and after one answer with --once. It ends by SIGTERM or SIGINT otherwise.

            EXAMPLES:
              space respond jobs double -- jq '. * 2'
              space respond jobs hostname --raw --key here -- hostname
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions

    @Option(help: ArgumentHelp("The responder's key (default: a UUID).", valueName: "key"))
    var key: String?

    @Flag(help: "Answer one request, then end.")
    var once = false

    @Flag(help: "Answer only while there is no responder without --base.")
    var base = false

    @Flag(
        name: [.customShort("r"), .customLong("raw")],
        help: "The reply is a string: the output without its last newline."
    )
    var raw = false

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: "What it responds to.")
    var name: String

    @OptionGroup var tail: CommandTail

    func validate() throws {
        try tail.require()
        try tail.check(after: "the namespace and the name")
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .responder)
        if let key { try access.check(key, of: .responder, "its key") }
        let command = tail.command
        try access.use(for: owner, creating: creation) { namespace in
            try namespace.respondBlocking(
                to: name,
                key: key,
                base: base,
                once: once,
                interruption: Signals.interruption
            ) { argument, request in
                let reply = try answer(argument, request, command)
                // If a signal has ended the command, the next responder gets the request.
                try Signals.check()
                return reply
            }
        }
    }

    /// Runs the command, which must end when its reply is no longer wanted.
    private func run(
        _ command: ChildCommand,
        _ argument: Value,
        _ request: RequestInHand
    ) throws -> (ending: ChildCommand.Ending, output: CommandOutput) {
        let news = UnwantedNews()
        let listening = request.whenUnwanted { news.tell() }
        defer { listening.cancel() }
        let right = CommandRight(grace: .seconds(1), news: news.descriptor) { request.isWanted }
        defer { extendLifetime(news) }
        return try command.runForOutput(input: .line(argument.json), with: right)
    }

    /// The reply to a request, or the reason why there is none.
    private func answer(
        _ argument: Value,
        _ request: RequestInHand,
        _ command: ChildCommand
    ) throws -> Result<Value, ResponderFailure> {
        let (ending, output) = try run(command, argument, request)
        guard ending.isSuccess else {
            return .failure(ResponderFailure("the command ended with status \(ending.status)"))
        }
        guard !output.isTooLong else { return .failure(ResponderFailure("the command's output is too long")) }
        guard let text = String(validating: output.bytes, as: UTF8.self) else {
            return .failure(ResponderFailure("the command's output is no UTF-8"))
        }
        if raw { return .success(.string(text.hasSuffix("\n") ? String(text.dropLast()) : text)) }
        if text.allSatisfy(\.isWhitespace) { return .success(.null) }
        do throws(TupleCodingError) {
            return .success(try Value(json: text))
        } catch {
            return .failure(ResponderFailure("the command's output is no JSON value: \(error)"))
        }
    }
}

/// Wakes the thread that waits for a command in poll(2); without a descriptor that thread looks at each tick.
private final class UnwantedNews: Sendable {
    private let event = try? EventFD()

    var descriptor: CInt {
        switch event {
        case .some(let event): event.raw
        case .none: -1
        }
    }

    func tell() {
        switch event {
        case .some(let event): try? event.signal()
        case .none: break
        }
    }
}
