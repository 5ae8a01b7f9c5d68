import CommandWords
import Glibc
import SharedSpaceObjects
import SpaceInspection
import SpaceSystem

/// The command `space respond NS NAME -- CMD…`, and what lists and removes responders.
///
/// The responder goes with this process. If this process dies, CMD dies too, with all that CMD has started, and the
/// next responder gets the request that CMD was at work on. They also end when the request ends.
struct RespondCommand: ParsableCommand {
    static let commandName = "respond"
    static let configuration = CommandConfiguration(
        abstract: "Answer requests of a name with a command's output.",
        usage: """
            space respond [<options>] <ns> <name> -- <cmd> ...
            space respond <ns> [<name>] --list
            space respond <ns> <name> --remove --key <key>
            """,
        discussion: """
            CMD runs for each request, one after the other. It gets the argument, in JSON form, on its standard input, and what \
            it prints is the reply: a JSON value, null if it prints nothing, or with --raw a string. If its status is not 0 the request \
            fails, and the process that asks learns the status. When the time of the process that asks is over, or it dies, CMD gets SIGTERM, \
            and SIGKILL a second later, together with all that it has started; then the next request is answered.

            The newest responder of a name answers. One with the same key is replaced; this command then ends, as it does when its \
            key is removed, and after one answer with --once. It ends by SIGTERM or SIGINT otherwise.

            CMD asks the responder below it with 'space request --next [VALUE]'. It finds in its environment SHARED_SPACE_ROOT, \
            SHARED_SPACE_NAMESPACE, SHARED_SPACE_NAME and SHARED_SPACE_KEY, which say what it answers to, and SHARED_SPACE_REQUEST, \
            which --next needs.

            --list prints the responders, a JSON object a line, in the order in which they are asked. --remove takes the one with \
            --key off the stack, in any process; the status is 1 when there is none.

            EXAMPLES:
              space respond jobs double -- jq '. * 2'
              space respond jobs hostname --raw --key here -- hostname
              space respond jobs greet -- sh -c 'space request --next | jq "ascii_upcase"'
              space respond jobs greet --list
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions

    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Option(help: "<key> The responder's key (default: a UUID).")
    var key: String?

    @Flag(help: "Print the responders, to NAME or to all names.")
    var list = false

    @Flag(help: "Take the responder to NAME with the key off the stack.")
    var remove = false

    @Flag(help: "Answer one request, then end.")
    var once = false

    @Flag(help: "Answer only while there is no responder without --base.")
    var base = false

    @Flag(
        name: [.customShort("r"), .customLong("raw")],
        help: "The reply is a string: the output without its last newline."
    )
    var raw = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "What it responds to.")
    var name: String?

    @OptionGroup var tail: CommandTail

    func validate() throws {
        guard list || remove else {
            if name == nil { throw ValidationError("name what it responds to") }
            return try tail.require()
        }
        if list, remove { throw ValidationError("--list and --remove exclude each other") }
        if remove, name == nil || key == nil {
            throw ValidationError("--remove needs the name that the responder answers to, and its --key")
        }
        guard tail.isMissing, remove || key == nil, !once, !base, !raw else {
            throw ValidationError("\(list ? "--list" : "--remove") takes no command, and no option of a responder")
        }
    }

    func run() throws {
        if list { return try printResponders() }
        guard let name else { return }
        if remove, let key { return try takeOffStack(name, key) }
        try respond(name)
    }

    private func printResponders() throws {
        let access = try NamespaceAccess(common, namespace)
        if let name { try access.check(name, of: .responder) }
        let responders = try access.use { try $0.status().responders }
        let output = Output()
        for responder in responders where name.map({ $0.utf8.elementsEqual(responder.name.utf8) }) ?? true {
            try output.print(responder.object)
        }
        try output.flush()
    }

    private func takeOffStack(_ name: String, _ key: String) throws {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .responder)
        try access.check(key, of: .responder, "the key")
        guard try access.use({ try $0.removeResponder(to: name, key: key) }) else { throw status.nothingObtained }
    }

    private func respond(_ name: String) throws {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .responder)
        if let key { try access.check(key, of: .responder, "its key") }
        let command = tail.command
        setenv("SHARED_SPACE_ROOT", access.space.root, 1)
        setenv("SHARED_SPACE_NAMESPACE", namespace, 1)
        setenv("SHARED_SPACE_NAME", name, 1)
        try access.use(for: owner, creating: creation) { namespace in
            try namespace.respondBlocking(
                to: name,
                key: key,
                base: base,
                once: once,
                interruption: Signals.interruption
            ) { argument, request in
                setenv("SHARED_SPACE_KEY", request.key, 1)
                setenv(RequestCommand.variable, request.word, 1)
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
        // A command that prints more ends by SIGPIPE: that is no failure of its own.
        guard !output.isTooLong else {
            return .failure(
                ResponderFailure(
                    "the command prints more than \(Limits.valueBytes) bytes (64 MiB), the most that a reply can have"
                )
            )
        }
        guard ending.isSuccess else {
            return .failure(ResponderFailure("the command ended with status \(ending.status)"))
        }
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
