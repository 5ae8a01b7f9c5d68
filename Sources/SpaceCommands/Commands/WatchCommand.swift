import CommandWords
import SharedSpace
import SpaceSystem

/// The command `space watch NS [TEMPLATE] [-- CMD…]`.
struct WatchCommand: ParsableCommand {
    static let commandName = "watch"
    static let configuration = CommandConfiguration(
        abstract: "Print what happens in a namespace, one change a line.",
        isEssential: true,
        usage: """
            space watch [<options>] <ns> [<template>] [-- <cmd> ...]
            space watch --namespaces [--initial] [--max <number>] [--wait <duration>]
            """,
        discussion: """
            The first line is {"event":"ready","seq":N,"life":L}: every change after N is told, and L names this life of the \
            namespace, from its creation to its deletion. Then a line for each change:
              {"seq":7,"time":…,"pid":…,"event":"write","id":3,"tuple":[…]}
            'set' and 'unset' carry key, old and new (with --key of a part, of that part), 'post' name and value, 'respond' name and the keys of the responder that came (new) \
            and of the one that went (old), 'hold', 'release' and 'proclaim' name and the holder (new, old), 'count' name and the \
            number of a counter or latch before and after, 'deadlock' the circle of processes and its text (new); fields without a value are left out. 'gap' says that \
            the changes from 'from' to 'to' are no longer available; 'gone', which has no seq, that the namespace was deleted; it ends the \
            watch with 0. A watch that goes on later gives --from N@L: in another life, where numbers have begun again, it begins with \
            the first change and a 'gap' (from 0 to 0 where that life's changes are all there), and so it does when no change \
            has the number N - 1 yet. Without TEMPLATE and an option that names something it tells everything.

            With --initial the tuples and cells that are there come first, as 'write' and 'set' with "present":true; with what \
            follows they make up a copy of the namespace, unless a gap comes: then read the whole again. With --namespaces it tells of \
            the space: {"event":"appeared","name":…} and 'disappeared', those that are there first with --initial.

            With CMD nothing is printed, 'ready' neither: CMD runs for each change, one after the other, with the line on \
            its standard input. Its status is noted on standard error, and the watch goes on; but with --subscription it ends \
            with that status, and the change comes again. If the watch is killed CMD is too, with all that it has started.

            It keeps no namespace alive and creates none: the status is 69 when there is none. With --wait a missing one \
            counts as nothing yet, and what happens before the watch finds it is told as a gap.

            EXAMPLES:
              space watch jobs
              space watch jobs '["resize", "?", "?"]' --events write
              space watch server --key config.port -- ./restart
              space watch jobs --subscription audit >> audit.jsonl
              space watch jobs --from "$((seq + 1))@$life"
              space watch --namespaces --initial
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions
    @OptionGroup var choice: WatchChoice

    @Option(
        help: """
            <seq[@life]> The first change wanted, with the life that counts it; a change that is no longer available \
            is told as a gap.
            """
    )
    var from: FirstChange?

    @Flag(help: "Begin with what is there.")
    var initial = false

    @Flag(help: "Tell which namespaces appear and disappear, and not what happens in one.")
    var namespaces = false

    @Option(
        help: """
            <name> Go on where the watch of this name stopped: a change counts as told when its line was accepted, or \
            CMD ended with 0.
            """
    )
    var subscription: String?

    @Option(help: "<life> With --subscription: the life in which its last watch was; in another one a gap comes first.")
    var life: NamespaceLife?

    @Option(help: "<number> End after this many changes; gaps are not counted.")
    var max: Int?

    @Option(
        defaultAsFlag: WaitLimit.unlimited,
        help: """
            <duration> End when there was no change for so long, with 1 if there was none at all; wait for the \
            namespace too.
            """
    )
    var wait: WaitLimit?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String?

    @Argument(help: "Which tuples, in JSON form.")
    var template: String?

    @Tail(help: "<cmd> After '--': the command to run for each change.")
    var command: [Word]?

    func validate() throws {
        if namespaces {
            guard namespace == nil, from == nil, subscription == nil, !choice.isNarrow, command == nil else {
                throw ValidationError("--namespaces takes no namespace, no choice of changes and no command")
            }
        } else if namespace == nil {
            throw ValidationError("name a namespace, or give --namespaces")
        }
        if from != nil, subscription != nil {
            throw ValidationError("--from and --subscription exclude each other: a subscription knows where it stopped")
        }
        if life != nil, subscription == nil {
            throw ValidationError("--life is for --subscription; with a number write --from SEQ@LIFE")
        }
        if initial, from != nil || subscription != nil {
            throw ValidationError("--initial begins with what is there: leave out --from and --subscription")
        }
        if subscription == "" { throw ValidationError("--subscription needs a name") }
        if let max, max < 1 { throw ValidationError("--max is a number from 1") }
    }

    func run() throws {
        guard let namespace else { return try watchNamespaces() }
        let filter = try choice.filter(try template.map { try matching.template($0) })
        let access = try NamespaceAccess(common, namespace)
        var telling = ChangeTelling(
            command: command.map { ChildCommand(wordCount: $0.count) },
            isSubscription: subscription != nil,
            path: choice.key,
            max: max ?? .max,
            quiet: wait?.timeout
        )
        let hasTold = try register(access, filter, until: telling.deadline) { try telling.run($0) }
        if !hasTold, wait != nil { throw status.nothingObtained }
    }

    private func changes(_ namespace: Namespace, _ filter: ChangeFilter, wasMissing: Bool) throws -> Changes {
        if let subscription { return try namespace.changes(filter, from: .subscription(subscription, of: life)) }
        return try namespace.changes(filter, from: start(wasMissing: wasMissing))
    }

    /// Where the watch begins: if the namespace was missing when the watch started, at the first change.
    private func start(wasMissing: Bool) -> Changes.Start {
        if initial { return .initial }
        if let from, !wasMissing || from.life != nil { return from.start }
        return wasMissing ? .after(0) : .now
    }

    private func watchNamespaces() throws {
        let telling = NamespaceTelling(max: max ?? .max, quiet: wait?.timeout)
        let hasTold = try telling.run(try common.space(mustExist: true).changes(initial: initial))
        if !hasTold, wait != nil { throw status.nothingObtained }
    }

    /// Finds the namespace, waiting for it if that is wanted, and registers the watch.
    ///
    /// - Returns: What `body` returned; false if the time passed before the namespace existed.
    private func register(
        _ access: NamespaceAccess,
        _ filter: ChangeFilter,
        until deadline: MonotonicInstant,
        _ body: (Changes) throws -> Bool
    ) throws -> Bool {
        // The watch can't know what happened in a missing namespace before it was found: that becomes a gap.
        var wasMissing = false
        while true {
            do {
                return try access.use { namespace in
                    try body(try changes(namespace, filter, wasMissing: wasMissing))
                }
            } catch let error as SpaceError where wait != nil && error.isOfMissingNamespace {
                wasMissing = true
                let existence = Existence(space: access.space, name: access.name)
                guard try existence.wait(for: .existing, until: deadline) else { return false }
            }
        }
    }
}
