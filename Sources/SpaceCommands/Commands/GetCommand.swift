import CommandWords
import SharedSpace

/// The command `space get NS KEY`.
struct GetCommand: ParsableCommand {
    static let commandName = "get"
    static let configuration = CommandConfiguration(
        abstract: "Print a cell's value.",
        isEssential: true,
        usage: """
            space get [<options>] <ns> <key>
            space get [<options>] <ns> --keys <pattern> [--max <number>]
            """,
        discussion: """
            The status is 1 when the cell holds none, and 69 when there is no such namespace; with --wait a missing namespace \
            counts as nothing yet. With --with-version it prints {"version":…,"value":…}: every set gives a cell another version, \
            which 'space set --if-version' compares. With --keys it prints {"key":…,"value":…} for each cell whose name matches, by name.

            EXAMPLES:
              space get jobs progress
              port=$(space get server port --wait 10s) || exit
              space get jobs title -r
              space get jobs state --with-version
              space get jobs --keys 'config.*'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @Flag(name: .raw, help: .raw) var raw = false

    @Flag(help: "Print an object with 'version' and 'value'.")
    var withVersion = false

    @Option(help: "<pattern> Cells whose names match: '*' any text, '?' one character.")
    var keys: String?

    @Option(help: "<number> With --keys: print up to so many.")
    var max: Int?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The cell's name.", completion: .keys)
    var key: String?

    func validate() throws {
        guard (key == nil) != (keys == nil) else { throw ValidationError("name one cell, or give --keys") }
        if let max, max < 1 { throw ValidationError("--max is a number from 1") }
        if keys == nil, max != nil { throw ValidationError("--max is for --keys") }
        if keys != nil, wait != nil || raw || withVersion {
            throw ValidationError("--keys prints JSON of what is there: leave out --wait, --raw and --with-version")
        }
        if withVersion, raw { throw ValidationError("--with-version prints JSON: leave out --raw") }
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        guard let key else { return try printCells(access) }
        let line = try access.obtain(wait, for: owner) { (namespace, remaining) -> PrintedLine? in
            try self.printed(key, in: namespace, remaining)
        }
        guard let line else { throw status.nothingObtained }
        try Signals.check()
        try Output.print(line: line)
    }

    /// What is printed of a cell; `nil` if it is not set in time.
    private func printed(_ key: String, in namespace: Namespace, _ remaining: Duration?) throws -> PrintedLine? {
        let interruption = Signals.interruption
        guard withVersion else {
            guard let remaining else { return try namespace.get(key).map { PrintOptions.line($0, raw: raw) } }
            return try namespace.getBlocking(key, timeout: remaining, interruption: interruption)
                .map { PrintOptions.line($0, raw: raw) }
        }
        guard let remaining else { return try namespace.details(of: key).map(Self.line) }
        return try namespace.detailsBlocking(of: key, timeout: remaining, interruption: interruption).map(Self.line)
    }

    private static func line(_ cell: CellDetails) -> PrintedLine {
        let object: JSONObject = ["version": cell.version, "value": cell.value]
        return .text(object.json)
    }

    /// Prints the cells that `--keys` names.
    private func printCells(_ access: NamespaceAccess) throws {
        let cells = try access.use(for: owner) { try $0.cells(.matching(keys ?? "*")) }
        guard !cells.isEmpty else { throw status.nothingObtained }
        let output = Output()
        for cell in cells.prefix(max ?? .max) {
            try output.print(["key": cell.key, "value": cell.value])
        }
        try output.flush()
    }
}
