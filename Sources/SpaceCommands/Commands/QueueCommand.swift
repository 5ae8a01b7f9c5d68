import ArgumentParser
import SharedSpace

/// The command `space queue NS NAME put VALUE | take -- CMD… | count | dead | kick`.
struct QueueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue",
        abstract: "Put items into a work queue, and work on them.",
        usage: "space queue [<options>] <ns> <name> <action> [<value>] [-- <cmd> ...]",
        discussion: """
            put VALUE puts an item in JSON form and prints its number. take runs CMD with the item on its standard input, and \
            completes it when the status is 0; otherwise, and when this process dies, it returns to the queue. The status is \
            CMD's, and 1 when there was nothing in time; without --wait it tries once. Workers are served in the order in which \
            they asked, with the item of the highest priority. Of a group one item at a time is worked on, in the order of \
            putting. Items that have come back as often as --deliveries says are set aside: dead prints them, kick puts them \
            back. count prints how many are in which state.

            EXAMPLES:
              space queue jobs mail put --delay 5m --group ada '{"to": "ada"}'
              space queue jobs mail take --wait -- ./send
            """
    )

    /// What the command does with the queue.
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case put, take, count, dead, kick
    }

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var status: StatusOptions
    @OptionGroup var arguments: JSONArguments

    @Option(help: "Higher comes first.")
    var priority = 0

    @Option(help: ArgumentHelp("How long no worker gets it.", valueName: "duration"))
    var delay: DurationArgument?

    @Option(help: "The group.")
    var group: String?

    @Option(help: "After how many deliveries an item is set aside; 0: never. All that put must say the same.")
    var deliveries = 0

    /// How many words after `--` are the command's, which `Words` adds.
    @Option(name: .customLong("command-words"), help: .hidden)
    var commandWords: Int?

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: "The name.")
    var name: String

    @Argument(help: ArgumentHelp("put, take, count, dead or kick.", valueName: "action"))
    var action: Action

    @Argument(help: ArgumentHelp("For put: the item; after '--': the command to run.", valueName: "value|cmd"))
    var words: [String] = []

    func validate() throws {
        if (action == .take) != (commandWords != nil) {
            throw ValidationError("take, and only take, ends with '--' and a command")
        }
        if words.count != (action == .take ? commandWords ?? 0 : action == .put ? 1 : 0) {
            throw ValidationError("put has one value, and the others have none")
        }
    }

    func run() throws {
        try NamespaceAccess(common, namespace).check(name, of: .queue)
        let output = Output()
        switch action {
        case .put:
            let values = try arguments.resolved()
            let value = try JSONText.value(words[0], what: "the item", arguments: values)
            let id = try use(creates: true) {
                try $0.put(value, priority: priority, delay: delay?.duration ?? .zero, group: group)
            }
            output.append(line: "\(id)")
        case .take: return try take()
        case .count:
            let counts = try use(creates: false) { try $0.counts() }
            output.append(line: StatusReport.object(counts).line)
        case .dead:
            for letter in try use(creates: false, { try $0.deadLetters() }) {
                var object = JSONObject()
                object.add("id", letter.id)
                object.add("deliveries", letter.deliveries)
                object.add("value", json: letter.value.json)
                output.append(line: object.line)
            }
        case .kick: output.append(line: "\(try use(creates: false) { try $0.kick() })")
        }
        try output.flush()
    }

    private func use<Result>(creates: Bool, _ body: (WorkQueue) throws -> Result) throws -> Result {
        let access = try NamespaceAccess(common, namespace)
        let opened = creates ? try access.open(creating: creation, owner: owner) : try access.openExisting()
        return try NamespaceAccess.use(opened) { try body($0.queue(name, deliveries: deliveries)) }
    }

    private func take() throws {
        let command = ChildCommand(wordCount: commandWords ?? 0)
        let access = try NamespaceAccess(common, namespace)
        let ending = try access.obtain(waiting.wait, for: owner) { (namespace, remaining) -> ChildCommand.Ending? in
            let queue = namespace.queue(name, deliveries: deliveries)
            let item = try queue.takeBlocking(timeout: remaining ?? .zero, interruption: Signals.interruption)
            guard let item else { return nil }
            let ending: ChildCommand.Ending
            do {
                ending = try command.run(input: .line(item.value.json))
            } catch {
                // The command never ran.
                item.returnUnseen()
                throw error
            }
            do throws(SpaceError) {
                if ending.isSuccess { try item.complete() } else { try item.release(delay: delay?.duration ?? .zero) }
            } catch {
                // The item went with its namespace; the command's status still says whether the work was done.
                guard error.code == .namespaceDeleted else { throw error }
            }
            return ending
        }
        guard let ending else { throw status.nothingObtained }
        try ending.checkSuccess()
    }
}
