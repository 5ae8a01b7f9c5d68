import CommandWords
import SpaceInspection

/// The command `space load NS`.
struct LoadCommand: ParsableCommand {
    static let commandName = "load"
    static let configuration = CommandConfiguration(
        abstract: "Read what 'space dump --format json' printed, from standard input.",
        discussion: """
            Writes the dump's tuples, in their order, sets its cells, makes its dictionaries, appends to its ordered sets what they \
            have not, puts the items of its work queues behind those that are there, but for those whose unique key is there already, and sets its counters, latches and rate limits: all or \
            nothing. A new namespace appears when all of it is there, and needs no more room than the dumped one; into one that \
            exists, all is written in one step. A dump without its last line was cut off, and is refused. What was claimed or \
            worked on is written too, as unclaimed. Tuples and items get new ids; tuples keep their expiry, deliveries and origin, items their priority, delay, group and deliveries. Creates \
            the namespace if need be, in the dump's mode, with its limit and history, and persistent if it was, unless an option \
            says otherwise. It does not load the changes, what processes held, what ended with a process, nor the rest of a \
            delay of --retry-delay; permits that were set and the limit of 'bury --after' are loaded.

            EXAMPLE:
              space dump jobs --format json > jobs.dump; space load jobs < jobs.dump
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(help: .limit) var limit: SizeArgument?
    @Option(help: .group) var group: GroupArgument?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        let dump = try DumpReader.read()
        let contents = dump.contents
        let access = try NamespaceAccess(common, namespace)
        let owner = try owner.choice()
        let options = creation.options(CreationBounds(limit: limit, group: group))
        do {
            return try load(contents, try access.open(for: owner, creates: false, options: options))
        } catch let error as SpaceError where error.code == .namespaceNotFound && creation.create {
            // It is made, below.
        }
        let made = dump.options(options)
        let initial = InitialContents(contents, of: namespace)
        do {
            let new = try access.open(for: owner, creates: true, options: made, contents: initial)
            try NamespaceAccess.use(new) { _ in }
        } catch let error as SpaceError where error.isOfTakenName {
            // Another process was quicker.
            try load(contents, try access.open(for: owner, creates: false, options: options))
        }
    }

    /// Loads into a namespace that exists, in one step: in parts, the others would see half, and a load that fails or is
    /// killed would leave half.
    private func load(_ contents: LoadedContents, _ namespace: Namespace) throws {
        try NamespaceAccess.use(namespace) { namespace in
            do throws(SpaceError) {
                try namespace.load(contents)
            } catch  where error.isOfStepTooLarge {
                throw error.advising("load it under a new name, where it goes in parts")
            }
        }
    }
}
