import CommandWords
import SharedSpace
import SpaceInspection

/// The command `space queue NS NAME ACTION …`.
struct QueueCommand: ParsableCommand {
    static let commandName = "queue"
    static let configuration = CommandConfiguration(
        abstract: "Put items into a work queue, and work on them.",
        isEssential: true,
        usage: "space queue [<options>] <ns> <name> <action> [<word> ...] [-- <cmd> ...]",
        discussion: """
            put VALUE… puts items in JSON form, all or none, and prints their numbers; with --json objects with 'id' and \
            'new'. With --unique KEY it does nothing and prints the present number while an item with that key is in the queue; \
            with --replace too it replaces the one that waits (which stays in its group unless --group names another), and with \
            --again it puts one behind that which is worked on. A queue that has as many items as --bound says takes no more: put \
            fails, or with --wait waits; those that wait are served in no certain order.

            take [ID] runs CMD with the item on its standard input, and with SHARED_SPACE_NAMESPACE, _QUEUE, _ID, _DELIVERIES \
            and _FENCING. It completes the item when CMD's status is 0; otherwise, and when this process dies, the item returns, \
            after --delay. Status 65 buries it. With --ttr the item returns after that time, and CMD gets SIGTERM, and \
            SIGKILL 5 s later; extend D lets it run for D from now, unless it may run longer. The status is CMD's; 1 when there \
            was nothing in time, and 75 when the item returned or was cancelled first; without --wait, and with ID, it tries once. \
            With --forever it goes on with one item after the other until a signal, or with --wait D until nothing came for D; \
            an item that failed returns after 1 s at first, twice as long each time, and 1 min at most. \
            CMD ends with its worker: if this process is killed, CMD gets SIGKILL, because another may have the item.

            take --or NAME takes from the queue NAME when that of the line has nothing ready, and so on with more of them; \
            while all are empty it waits for any. It has no turn in them: a worker that waits for one queue alone is served \
            first.

            take --hold runs nothing: it prints the item's number, and with --value the item on the next line. The item is the \
            owner's (--owner, $SHARED_SPACE_OWNER, or the session leader) until complete ID, release ID or bury ID, with \
            the same owner, and returns when that exits.

            Workers are served in the order in which they asked, with the item of the highest priority. Of a group one item at \
            a time is worked on, in the order of putting. Items that have come back as often as --deliveries says are \
            buried: "buried" prints them, kick [ID…] puts them back, as new items. peek prints items without taking them, of one \
            --state, or peek ID… those of these numbers; remove ID… removes those that no worker has; cancel ID… removes them in any state, and CMD gets SIGTERM, and \
            SIGKILL 5 s later; extend ID D gives a worker more time. drain removes all that are ready or delayed, and prints \
            how many. remove-queue removes the queue with all its items, unless a worker has one, with --force also then; \
            workers that wait, wait on for the next put. set changes the queue's --deliveries and --bound for all; an item \
            that has come back more often is buried when it comes back again. pause [D] \
            gives workers of a queue that exists nothing more, until D has passed or resume. count prints how many are in which state.

            EXAMPLES:
              space queue jobs mail put --delay 5m --group ada '{"to": "ada"}'
              space queue jobs mail take --forever --ttr 1m -- ./send
              space queue jobs urgent take --or mail --or cleaning --wait -- ./work
              space queue jobs mail extend 1m
              space queue jobs mail set --deliveries 3
              space queue jobs mail peek --state buried --max 5
            """
    )

    /// What the command does with the queue.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case put, take, peek, count, buried, kick, remove, drain, pause, resume
        case extend, cancel, set, complete, release, bury
        case removeQueue = "remove-queue"
    }

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var values: ValueOptions

    @Option(help: "Higher comes first.")
    var priority = 0

    @Option(help: "<duration> How long no worker gets it.")
    var delay: Duration?

    @Option(help: "The group.")
    var group: String?

    @Option(help: "<key> For put: do nothing while an item with this key is there.")
    var unique: String?

    @Flag(help: "With --unique: replace the item that waits; one that is worked on is followed by the new one.")
    var replace = false

    @Flag(help: "With --unique: once more after the item that is worked on; if one waits, do nothing.")
    var again = false

    @Flag(help: "For put: print objects with 'id' and 'new'.")
    var json = false

    @Option(help: "After how many deliveries an item is buried; 0: never (default: as the queue is).")
    var deliveries: Int?

    @Option(help: "The most items that are not buried; 0: no bound (default: as the queue is).")
    var bound: Int?

    @Option(help: "<duration> For take: how long CMD may have the item.")
    var ttr: Duration?

    @Flag(help: "For take: go on with the next item, waiting for it.")
    var forever = false

    @Option(
        name: .customLong("or"),
        help: "<name> For take: another queue, for when those before it have nothing ready.",
        completion: .objects(.queue)
    )
    var others: [String] = []

    @Flag(help: "For take: run nothing, and print the item's number.")
    var hold = false

    @Flag(help: "For take --hold: print the item too, on the next line.")
    var value = false

    @Flag(help: "For remove-queue: cancel what workers have, too.")
    var force = false

    @Option(help: "<state> For peek: ready, delayed, taken, blocked or buried.")
    var state: QueueItem.Info.State?

    @Option(help: "For peek, buried and kick: the most items.")
    var max = Int.max

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The name.", completion: .objects(.queue))
    var name: String

    @Argument(
        help: """
            <action> put, take, extend, complete, release, bury, peek, count, buried, kick, remove, cancel, drain, \
            pause, resume, set or remove-queue.
            """
    )
    var action: Action

    @Argument(help: "<word> The items, or their numbers.")
    var firstWords: [String] = []

    @Tail(mayBeEmpty: true, help: "<cmd> After '--': the command that take runs, or more items.")
    var tail: [Word]?

    /// The items or numbers; only take has a command behind `--`, which otherwise ends the options.
    var words: [String] { action == .take ? firstWords : firstWords + (tail ?? []).map(\.text) }

    func run() throws {
        for name in [name] + others { try access.check(name, of: .queue) }
        let output = Output()
        if [.put, .kick, .drain, .removeQueue].contains(action) { try output.checkTaken() }
        switch action {
        case .put: for put in try put() { output.append(line: json ? Self.object(put).json : "\(put.id)") }
        case .take where hold: try takeAndHold()
        case .take: try take()
        case .complete: try endHeld { try $0.complete() }
        case .release: try endHeld { try $0.release(delay: delay ?? .zero) }
        case .bury: try endHeld { try $0.bury() }
        case .extend: try extend()
        case .cancel: try forEachItem(.cancelled) { try $0.cancel($1) != nil }
        case .remove: try forEachItem(.removed) { try $0.remove($1) }
        case .kick where words.isEmpty: try kick(output)
        case .kick: try forEachItem(.kicked, output) { try $0.kick($1).map { "\($0)" } }
        case .peek where words.isEmpty: try list(state, output)
        case .peek: try forEachItem(.shown, output) { try $0.item($1).map(Self.line) }
        case .buried: try list(.buried, output)
        case .count: output.append(line: try use { try $0.counts() }.object.json)
        case .set: try use { try $0.set(deliveries: deliveries, bound: bound) }
        case .pause: try pause()
        case .resume: try use { try $0.resume() }
        case .drain: output.append(line: "\(try use { try $0.drain() })")
        case .removeQueue: output.append(line: "\(try removeQueue())")
        }
        try output.flush()
    }

    var access: NamespaceAccess { get throws(SpaceError) { try NamespaceAccess(common, namespace) } }

    func use<Result>(_ body: (WorkQueue) throws -> Result) throws -> Result {
        try access.use { try body(queue(of: $0)) }
    }

    func queue(of namespace: Namespace) -> WorkQueue {
        namespace.queue(name, deliveries: deliveries, bound: bound)
    }
}

extension QueueItem.Info.State: ExpressibleByArgument {}
