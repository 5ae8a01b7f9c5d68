import CommandWords
import SharedSpace

/// The command `space set NS KEY VALUE`.
struct SetCommand: ParsableCommand {
    static let commandName = "set"
    static let configuration = CommandConfiguration(
        abstract: "Set a cell to a value.",
        isEssential: true,
        discussion: """
            Creates the namespace if need be. The status is 1 when a comparison failed, and then nothing was changed. \
            --if-version also fails if the cell was set to another value and back since 'space get --with-version' has \
            printed the version. With --expires the cell is unset after that time, with --session when the owner process ends. Setting it again without \
            them lets it stay.

            EXAMPLES:
              space set jobs progress 0.5
              space set jobs --string title "$title"
              space set jobs --if-absent leader "$$"
              space set jobs --if-equals '"idle"' state '"busy"'
              space get jobs state --with-version; space set jobs --if-version 17 state '"busy"'
              space set jobs --expires 30s lease '"worker 7"'
              space set jobs --session member/$$ '{"host": "ada"}'
              space set jobs --arg name "$name" title '$name'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(help: .limit) var limit: SizeArgument?
    @Option(help: .group) var group: GroupArgument?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var end: EndOptions
    @OptionGroup var values: ValueOptions

    @Option(name: .customLong("if-equals"), help: "<value> Set it only if it holds this value.")
    var expected: String?

    @Flag(name: .customLong("if-absent"), help: "Set it only if it holds none.")
    var ifAbsent = false

    @Option(
        name: .customLong("if-version"),
        help:
            "<number> Set it only if it has this version, as 'space get --with-version' prints it; 0: if it holds none."
    )
    var version: UInt64?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The cell's name.", completion: .keys)
    var key: String

    @Argument(help: "The value, in JSON form.")
    var value: String

    func validate() throws {
        if [ifAbsent, expected != nil, version != nil].count(where: { $0 }) > 1 {
            throw ValidationError("--if-equals, --if-version and --if-absent exclude each other")
        }
    }

    func run() throws {
        let value = try values.values([value], what: "the value")[0]
        let expected = try values.value(expected, what: "the value of --if-equals")
        let (expires, lifetime) = (end.expires, try end.lifetime(owner))
        let isSet = try NamespaceAccess(common, namespace).use(
            for: owner,
            creating: creation,
            bounds: CreationBounds(limit: limit, group: group)
        ) {
            namespace in
            if let expected {
                return try namespace.set(
                    key,
                    value,
                    ifEquals: expected,
                    expires: expires,
                    lifetime: lifetime
                )
            }
            if let version {
                return try namespace.set(key, value, ifVersion: version, expires: expires, lifetime: lifetime)
            }
            if ifAbsent {
                return try namespace.setIfAbsent(key, value, expires: expires, lifetime: lifetime)
            }
            try namespace.set(key, value, expires: expires, lifetime: lifetime)
            return true
        }
        if !isSet { throw status.nothingObtained }
    }
}
