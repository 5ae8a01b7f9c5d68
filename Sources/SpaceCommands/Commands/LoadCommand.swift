import CommandWords
import SharedSpace

/// The command `space load NS`.
struct LoadCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Read what 'space-dump --format json' printed, from standard input.",
        discussion: """
            Writes the dump's tuples, in their order, sets its cells, makes its dictionaries, appends to its ordered sets what they \
            have not, puts the items of its work queues behind those that are there, and sets its counters, latches and rate limits: all or \
            nothing. What was claimed or worked on is written too, as unclaimed. Tuples and items get \
            new ids; tuples keep their expiry, deliveries and origin, items their priority, delay, group and deliveries. Creates \
            the namespace if need be, in the dump's mode, with its limit and history, and persistent if it was, unless an option \
            says otherwise. It does not load the changes, what processes held, what ended with a process, nor the rest of a \
            delay of --retry-delay; permits that were set and the limit of 'bury --after' are loaded.

            EXAMPLE:
              space-dump jobs --format json > jobs.dump; space load jobs < jobs.dump
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(help: .limit) var limit: SizeArgument?
    @Option(help: .group) var group: GroupArgument?

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    func run() throws {
        let dump = try DumpReader.read()
        let access = try NamespaceAccess(common, namespace)
        try NamespaceAccess.use(try open(access, as: dump)) { namespace in
            try namespace.load(
                tuples: dump.tuples,
                cells: dump.cells,
                collections: dump.collections,
                recipes: dump.recipes,
                deliveryLimit: dump.deliveryLimit
            )
        }
    }

    /// Opens the namespace, or creates it like the dumped one, unless an option says otherwise.
    ///
    /// A namespace that exists may have another mode and history than the dump; only an option insists on them.
    private func open(_ access: NamespaceAccess, as dump: DumpReader) throws -> Namespace {
        let owner = try owner.choice()
        var options = creation.options(CreationBounds(limit: limit, group: group))
        do {
            return try access.open(for: owner, creates: false, options: options)
        } catch let error as SpaceError where error.code == .namespaceNotFound && creation.create {
            options.mode = options.mode ?? dump.mode
            options.history = options.history ?? dump.history
            options.byteLimit = options.byteLimit ?? dump.byteLimit
            options.isPersistent = options.isPersistent || dump.isPersistent
            return try access.open(for: owner, creates: true, options: options)
        }
    }
}
