import CommandWords
import SharedSpace
import SpaceInspection

/// The command `space queue NS NAME ACTION …`.
struct QueueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
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
            workers that wait, wait on for the next put. set changes the queue's --deliveries and --bound for all. pause [D] \
            gives workers nothing more, until D has passed or resume. count prints how many are in which state.

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
    @OptionGroup var arguments: JSONArguments

    @Option(help: "Higher comes first.")
    var priority = 0

    @Option(help: ArgumentHelp("How long no worker gets it.", valueName: "duration"))
    var delay: DurationArgument?

    @Option(help: "The group.")
    var group: String?

    @Option(help: ArgumentHelp("For put: do nothing while an item with this key is there.", valueName: "key"))
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

    @Option(help: ArgumentHelp("For take: how long CMD may have the item.", valueName: "duration"))
    var ttr: DurationArgument?

    @Flag(help: "For take: go on with the next item, waiting for it.")
    var forever = false

    @Option(
        name: .customLong("or"),
        help: ArgumentHelp("For take: another queue, for when those before it have nothing ready.", valueName: "name"),
        completion: .objects(.queue)
    )
    var others: [String] = []

    @Flag(help: "For take: run nothing, and print the item's number.")
    var hold = false

    @Flag(help: "For take --hold: print the item too, on the next line.")
    var value = false

    @Flag(help: "For remove-queue: cancel what workers have, too.")
    var force = false

    @Option(help: ArgumentHelp("For peek: ready, delayed, taken, blocked or buried.", valueName: "state"))
    var state: QueueItem.Info.State?

    @Option(help: "For peek, buried and kick: the most items.")
    var max = Int.max

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: "The name.", completion: .objects(.queue))
    var name: String

    @Argument(
        help: ArgumentHelp(
            "put, take, extend, complete, release, bury, peek, count, buried, kick, remove, cancel, drain, pause, resume, set or remove-queue.",
            valueName: "action"
        )
    )
    var action: Action

    @Argument(help: ArgumentHelp("The items, or their numbers.", valueName: "word"))
    var firstWords: [String] = []

    @Tail(
        mayBeEmpty: true,
        help: ArgumentHelp("After '--': the command that take runs, or more items.", valueName: "cmd")
    )
    var tail: [Word]?

    /// The items or numbers; only take has a command behind `--`, which otherwise ends the options.
    var words: [String] { action == .take ? firstWords : firstWords + (tail ?? []).map(\.text) }

    func validate() throws {
        if hold, action == .take, tail?.first != nil { throw ValidationError("--hold runs no command") }
        if action == .take, !hold, tail?.first == nil { throw ValidationError("take ends with '--' and a command") }
        if action != .take, let word = tail?.first(where: { !$0.isText }) {
            throw CommandFailure.badData("\(word.text.quotedForPeople) is not UTF-8")
        }
        let count = words.count
        switch action {
        case .put where count < 1: throw ValidationError("put has the items to put")
        case .put where count > 1 && (unique != nil || wait != nil):
            throw ValidationError("--unique and --wait are for one item")
        case .remove where count < 1: throw ValidationError("remove has the numbers of the items")
        case .cancel where count < 1: throw ValidationError("cancel has the numbers of the items")
        case .extend where !(1...2).contains(count):
            throw ValidationError("extend has a duration, and before it the number of an item if it is not CMD's own")
        case .complete, .release, .bury:
            if count != 1 {
                throw ValidationError("\(action.rawValue) has the number of an item that 'take --hold' printed")
            }
        case .set where deliveries == nil && bound == nil:
            throw ValidationError("set has --deliveries, --bound, or both")
        case .take where hold && forever: throw ValidationError("--hold and --forever exclude each other")
        case .take where count > 1: throw ValidationError("take has one number, or none")
        case .take where count == 1 && wait != nil:
            throw ValidationError("take with a number tries once: --wait is for whatever item comes next")
        case .take where !others.isEmpty && (count == 1 || hold):
            throw ValidationError(
                "--or is for what comes next: leave out the number, and --hold, whose number is of one queue"
            )
        case .take where count == 1 && forever: throw ValidationError("--forever takes what comes, and has no number")
        case .pause where count > 1: throw ValidationError("pause has one duration, or none")
        case .peek where count > 0 && (state != nil || max != .max):
            throw ValidationError("peek has numbers of items, or --state and --max")
        case .count, .buried, .drain, .resume, .set, .removeQueue:
            if count > 0 { throw ValidationError("\(action.rawValue) has no further words") }
        default: break
        }
        try checkOptions()
        if let ttr, ttr.duration <= .zero {
            throw ValidationError("--ttr is longer than 0: the time would be over at once")
        }
        if max < 0 { throw ValidationError("--max is 0 or more") }
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        for name in [name] + others { try access.check(name, of: .queue) }
        let output = Output()
        if [.put, .kick, .drain, .removeQueue].contains(action) { try output.checkTaken() }
        switch action {
        case .put:
            for put in try put() { output.append(line: json ? Self.object(put).json : "\(put.id)") }
        case .take where hold: return try takeAndHold()
        case .take: return try take()
        case .extend: return try extend()
        case .complete: return try endHeld { try $0.complete() }
        case .release: return try endHeld { try $0.release(delay: delay?.duration ?? .zero) }
        case .bury: return try endHeld { try $0.bury() }
        case .cancel: return try forEachItem(.cancelled) { try $0.cancel($1) != nil }
        case .remove: return try forEachItem(.removed) { try $0.remove($1) }
        case .set: return try setNumbers()
        case .removeQueue: output.append(line: "\(try removeQueue())")
        case .peek where !words.isEmpty:
            let outcome = Swift.Result {
                try forEachItem(.shown) { (queue, id) in
                    guard let item = try queue.item(id) else { return false }
                    output.append(line: Self.line(item))
                    return true
                }
            }
            try output.flush()
            try outcome.get()
        case .peek: try list(state, output)
        case .buried: try list(.buried, output)
        case .count:
            output.append(line: try use { try $0.counts() }.object.json)
        case .kick where words.isEmpty:
            let kicked = try use { try $0.kick(max: max) }
            output.append(line: "\(kicked)")
            try output.flush()
            if kicked == 0 { throw status.nothingObtained("no buried item was put back") }
        case .kick:
            let outcome = Swift.Result {
                try forEachItem(.kicked) { (queue, id) in
                    guard let new = try queue.kick(id) else { return false }
                    output.append(line: "\(new)")
                    return true
                }
            }
            try output.flush()
            try outcome.get()
        case .drain: output.append(line: "\(try use { try $0.drain() })")
        case .pause:
            let duration = try words.first.map { word in
                guard let duration = DurationArgument(argument: word) else {
                    throw CommandFailure.usage("'\(word)' is no duration: write \(DurationText.forms)")
                }
                return duration.duration
            }
            try use { try $0.pause(for: duration) }
        case .resume: try use { try $0.resume() }
        }
        try output.flush()
    }

    /// Refuses options that mean nothing for the action.
    private func checkOptions() throws {
        func only(_ isGiven: Bool, _ option: String, for actions: Action...) throws {
            guard isGiven, !actions.contains(action) else { return }
            let names = actions.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("\(option) is for \(names), and not for \(action.rawValue)")
        }
        try only(ttr != nil, "--ttr", for: .take)
        try only(forever, "--forever", for: .take)
        try only(hold, "--hold", for: .take)
        try only(!others.isEmpty, "--or", for: .take)
        try only(value, "--value", for: .take)
        try only(force, "--force", for: .removeQueue)
        if action == .removeQueue {
            try only(deliveries != nil, "--deliveries", for: .put, .take, .set)
            try only(bound != nil, "--bound", for: .put, .take, .set)
        }
        try only(state != nil, "--state", for: .peek)
        try only(max != .max, "--max", for: .peek, .buried, .kick)
        try only(unique != nil, "--unique", for: .put)
        try only(replace, "--replace", for: .put)
        try only(again, "--again", for: .put)
        try only(json, "--json", for: .put)
        if unique == nil, replace || again { throw ValidationError("--replace and --again are for --unique KEY") }
        if replace && again { throw ValidationError("it is --replace or --again") }
        try only(group != nil, "--group", for: .put)
        try only(priority != 0, "--priority", for: .put)
        try only(delay != nil, "--delay", for: .put, .take, .release)
        if value, !hold { throw ValidationError("--value is for --hold: CMD gets the item on its standard input") }
    }

    private static func object(_ put: QueuePut) -> JSONObject {
        switch put {
        case .added: ["id": put.id, "new": true]
        case .present: ["id": put.id, "new": false]
        case .replaced: ["id": put.id, "new": false, "replaced": true]
        }
    }

    private func put() throws -> [QueuePut] {
        let named = try arguments.resolved()
        let items = try words.map { try values.value($0, what: "the item", arguments: named) }
        let delay = delay?.duration ?? .zero
        let access = try NamespaceAccess(common, namespace)
        return try NamespaceAccess.use(try access.open(creating: creation, owner: owner)) { opened in
            let queue = self.queue(of: opened)
            let rule: UniqueRule = replace ? .replace : again ? .again : .keep
            guard let limit = wait else {
                guard let unique else {
                    let ids = try queue.put(contentsOf: items, priority: priority, delay: delay, group: group)
                    return ids.map { .added($0) }
                }
                return [
                    try queue.put(
                        items[0],
                        priority: priority,
                        delay: delay,
                        group: group,
                        unique: unique,
                        ifPresent: rule
                    )
                ]
            }
            let put = try WaitNotice.during(opened, isUnlimited: limit.timeout == nil) {
                try queue.putBlocking(
                    items[0],
                    priority: priority,
                    delay: delay,
                    group: group,
                    unique: unique,
                    ifPresent: rule,
                    timeout: limit.timeout,
                    interruption: Signals.interruption
                )
            }
            guard let put else { throw status.nothingObtained }
            return [put]
        }
    }

    private func list(_ state: QueueItem.Info.State?, _ output: Output) throws {
        try use { queue in
            try queue.forEachPart(in: state, max: max) { items in
                try Signals.check()
                for item in items { try output.print(Self.line(item)) }
                try output.flush()
            }
        }
    }

    private static func line(_ item: QueueItem.Info) -> String {
        var object: JSONObject = [
            "id": item.id, "state": item.state.rawValue, "priority": item.priority, "group": item.group,
            "deliveries": item.deliveries, "reason": item.reason.orLeftOut,
        ]
        object.add(item.origin)
        object.add("value", item.value)
        return object.json
    }

    func use<Result>(_ body: (WorkQueue) throws -> Result) throws -> Result {
        let access = try NamespaceAccess(common, namespace)
        return try NamespaceAccess.use(try access.openExisting()) { try body(queue(of: $0)) }
    }

    func queue(of namespace: Namespace) -> WorkQueue {
        namespace.queue(name, deliveries: deliveries, bound: bound)
    }
}

// MARK: Working

extension QueueCommand {
    /// What became of an item that was taken.
    private enum Outcome: Equatable {
        case ended(ChildCommand.Ending)
        /// The item returned before it could be ended.
        case late(String)
    }

    /// The status with which CMD says that no worker can do anything with the item.
    private static let buryStatus = ExitStatus.badData.rawValue

    private func take() throws {
        let command = ChildCommand(wordCount: tail?.count ?? 0)
        let access = try NamespaceAccess(common, namespace)
        let id = try words.first.map(number)
        guard forever else {
            switch try workOnOne(access, wait, id, command) {
            case nil: throw nothingTaken(id)
            case .ended(let ending)?: return try ending.checkSuccess()
            case .late(let reason)?: throw CommandFailure(.tryAgain, reason)
            }
        }
        var isFirst = true
        while let outcome = try workOnOne(access, wait ?? .unlimited, nil, command) {
            isFirst = false
            try Signals.check()
            switch outcome {
            case .ended(let ending):
                guard !ending.isSuccess else { continue }
                let fate = ending.status == Self.buryStatus ? "is buried" : "returns"
                Messages.print("space: the command ended with status \(ending.status), and the item \(fate)")
            case .late(let reason): Messages.print("space: \(reason)")
            }
        }
        if isFirst { throw status.nothingObtained }
    }

    /// Takes an item and runs the command for it; `nil` if there was none to take.
    private func workOnOne(
        _ access: NamespaceAccess,
        _ wait: WaitLimit?,
        _ id: UInt64?,
        _ command: ChildCommand
    ) throws -> Outcome? {
        try access.obtain(wait, for: owner) { (namespace, remaining) -> Outcome? in
            if others.isEmpty {
                guard let item = try taken(id, from: queue(of: namespace), remaining) else { return nil }
                return try work(on: item, access, command)
            }
            guard let item = try takenFromAny(of: namespace, in: access.space, remaining) else { return nil }
            return try work(on: item, access, command)
        }
    }

    func taken(_ id: UInt64?, from queue: WorkQueue, _ remaining: Duration?) throws(SpaceError) -> QueueItem? {
        if let id { return try queue.take(id, deadline: ttr?.duration) }
        return try queue.takeBlocking(
            timeout: remaining ?? .zero,
            deadline: ttr?.duration,
            interruption: Signals.interruption
        )
    }

    private func work(
        on item: consuming QueueItem,
        _ access: NamespaceAccess,
        _ command: ChildCommand
    ) throws -> Outcome {
        let item = item
        var facts = CommandFacts(
            access.name,
            root: access.space.root,
            id: item.id,
            deliveries: item.deliveries,
            fencing: item.fencing
        )
        facts.add(queue: item.queueName, ticket: item.fencing)
        facts.publish()
        let (deliveries, json) = (item.deliveries, item.value.json)
        let ending: ChildCommand.Ending
        do {
            let right = CommandRight(grace: .seconds(5)) { item.isHeld }
            ending = try command.run(input: .line(json), with: right)
        } catch {
            // The command never ran.
            item.returnUnseen()
            throw error
        }
        do throws(SpaceError) {
            switch ending.status {
            case 0: try item.complete()
            case Self.buryStatus: try item.bury(reason: "the command ended with status \(ending.status)")
            case let status:
                let growing = forever ? FailureDecision.delay(afterDeliveries: deliveries) : .zero
                try item.giveBack(
                    delay: delay?.duration ?? growing,
                    reason: "the command ended with status \(status)"
                )
            }
        } catch {
            switch error.code {
            // The item went with its namespace; the command's status still says whether the work was done.
            case .namespaceDeleted: break
            case .holdLost: return .late("\(error)")
            default: throw error
            }
        }
        return .ended(ending)
    }
}

extension QueueItem.Info.State: ExpressibleByArgument {}
