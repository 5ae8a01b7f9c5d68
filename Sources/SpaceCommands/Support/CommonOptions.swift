import ArgumentParser
import SharedSpace

/// What every command takes.
struct CommonOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The space's root folder (default: $SHARED_SPACE_ROOT, else /dev/shm/shared-space-UID).",
            valueName: "dir"
        ),
        completion: .directory
    )
    var root: String?

    @Option(
        help: ArgumentHelp(
            "How long to wait for a lock that another process holds (default: 5s).",
            valueName: "duration"
        )
    )
    var timeout: DurationArgument?

    /// The space that the options name; what creates a namespace creates its root folder too, nothing else does.
    ///
    /// `mustExist`: For a command that looks at all that is there: a root that was named has to exist.
    func space(mustExist: Bool = false) throws(SpaceError) -> Space {
        let space = Space(trusting: root, timeout: timeout?.duration ?? .seconds(5))
        try space.checkRoot(mustExist: mustExist)
        return space
    }
}

/// A duration on the command line.
struct DurationArgument: ExpressibleByArgument, Sendable {
    let duration: Duration

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self.duration = duration
    }
}

/// How long `--wait` waits.
enum WaitLimit: ExpressibleByArgument, CustomStringConvertible, Sendable {
    case duration(Duration)
    case unlimited

    init?(argument: String) {
        guard let duration = DurationText.parse(argument) else { return nil }
        self = .duration(duration)
    }

    var description: String {
        switch self {
        case .duration(let duration): "\(duration)"
        case .unlimited: "no limit"
        }
    }
}

/// `--wait [D]`.
struct WaitOptions: ParsableArguments {
    @Option(
        defaultAsFlag: WaitLimit.unlimited,
        parsing: .next,
        help: ArgumentHelp(
            "Wait until there is one. A duration is \(DurationText.forms); 0 tries once.",
            valueName: "duration"
        )
    )
    var wait: WaitLimit?
}

/// `-E N`.
struct StatusOptions: ParsableArguments {
    @Option(
        name: .customShort("E"),
        help: ArgumentHelp("Exit with this status instead of 1 when nothing was obtained.", valueName: "status")
    )
    var nothing: UInt8?

    /// What a command throws that obtained nothing; it prints no message, like grep(1).
    var nothingObtained: CommandFailure {
        CommandFailure(nothing.map { ExitStatus(rawValue: Int32($0)) } ?? .nothing, nil)
    }
}

/// What a namespace is created with.
struct CreationOptions: ParsableArguments {
    @Flag(help: "If it is created: sync every commit to the disk. One that exists must be so.")
    var durable = false

    @Flag(help: "If it is created: keep stray pointers of its users away from the data. One that exists must be so.")
    var guarded = false

    @Flag(help: "If it is created: keep it when its last owner has exited. One that exists must be so.")
    var persistent = false

    @Option(
        help: ArgumentHelp(
            "If it is created: keep so many changes, and bytes of them, also while nobody watches. One that exists must be so.",
            valueName: "changes[,bytes]"
        )
    )
    var history: HistoryArgument?

    mutating func validate() throws {
        if durable && guarded { throw ValidationError("--durable and --guarded exclude each other") }
    }

    var options: NamespaceOptions {
        NamespaceOptions(
            mode: durable ? .durable : guarded ? .guarded : nil,
            isPersistent: persistent,
            history: history?.history
        )
    }
}

/// A history on the command line: a number of changes, and after a comma one of bytes.
struct HistoryArgument: ExpressibleByArgument, Sendable {
    let history: History

    init?(argument: String) {
        let numbers = argument.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
        guard numbers.count <= 2, let changes = numbers[0], numbers.count == 1 || numbers[1] != nil else { return nil }
        history = History(changes: changes, bytes: numbers.count == 2 ? numbers[1] : nil)
    }
}

/// Which tuples a template stands for.
struct MatchOptions: ParsableArguments {
    @Flag(help: "Objects match records that have exactly their fields, at every depth.")
    var exact = false

    @Flag(help: "The template is a tuple: strings that begin with '?' stand for themselves.")
    var literal = false

    func template(_ text: String, _ arguments: JSONArguments) throws -> Template {
        let values = try arguments.resolved()
        do {
            return try Template(json: text, exactly: exact, literal: literal, arguments: values)
        } catch {
            throw JSONText.failure("the template", error)
        }
    }
}

/// How tuples and values are printed.
struct PrintOptions: ParsableArguments {
    @Flag(name: [.customShort("r"), .customLong("raw")], help: "Print strings as they are, without quotes.")
    var raw = false

    @Option(
        help: ArgumentHelp("Print one field: its number from 0, or a record's name.", valueName: "number|name")
    )
    var field: String?

    /// The line for a tuple.
    ///
    /// - Throws: `CommandFailure` when it lacks the field.
    func line(_ tuple: Tuple) throws -> String {
        guard let field else { return tuple.json }
        if tuple.isRecord {
            guard let value = tuple[field] else {
                throw CommandFailure.badData("no field \(field.quotedForPeople) in the record \(Self.excerpt(tuple))")
            }
            return Self.line(value, raw: raw)
        }
        guard let position = Int(field), position >= 0, position < tuple.count else {
            throw CommandFailure.badData("no field \(field.quotedForPeople) in the tuple \(Self.excerpt(tuple))")
        }
        return Self.line(tuple[position], raw: raw)
    }

    static func line(_ value: Value, raw: Bool) -> String {
        if raw, case .string(let text) = value { return text }
        return value.json
    }

    /// Enough of a tuple to recognise it in a message.
    private static func excerpt(_ tuple: Tuple) -> String {
        let text = PeopleText.escaped(tuple.json)
        return text.count > 120 ? text.prefix(120) + "…" : text
    }
}
