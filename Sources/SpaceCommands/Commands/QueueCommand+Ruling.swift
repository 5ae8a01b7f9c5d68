import Glibc
import SharedSpace

// What is done to an item from outside, or by the command that works on it, and to a queue as a whole.

extension QueueCommand {
    // MARK: Items

    /// Gives an item more time: the one of a number, or that of the command which calls this.
    func extend() throws {
        let duration = try duration(words.last ?? "")
        let (id, ticket) = words.count == 2 ? (try number(words[0]), nil) : try ownItem()
        let isExtended = try use { try $0.extend(id, by: duration, heldWith: ticket) }
        if isExtended { return }
        throw CommandFailure(.tryAgain, "item \(id) has returned to the queue, or was ended: no worker has it")
    }

    /// The item of the command that calls this, as `take` has told it, and its worker's ticket.
    private func ownItem() throws -> (id: UInt64, ticket: UInt64?) {
        func variable(_ name: String) -> String? { getenv("SHARED_SPACE_\(name)").map { String(cString: $0) } }
        guard variable("NAMESPACE") == namespace, variable("QUEUE") == name,
            let id = variable("ID").flatMap(UInt64.init),
            let ticket = variable("HOLD").flatMap(UInt64.init)
        else {
            throw CommandFailure.usage(
                "this is no command that works on an item of the queue \(name.quotedForPeople): say which item to extend"
            )
        }
        return (id, ticket)
    }

    /// Does something with each item of a number; of those with which it does nothing, standard error says why.
    ///
    /// - Throws: `CommandFailure` with the status of nothing, if there was one.
    func forEachItem(_ deed: Deed, _ body: (WorkQueue, UInt64) throws -> Bool) throws {
        let ids = try words.map(number)
        let hindrances = try use { queue in
            try ids.compactMap { id in try body(queue, id) ? nil : Self.hindrance(deed, id, try queue.item(id)) }
        }
        for hindrance in hindrances { Messages.hint(hindrance) }
        if !hindrances.isEmpty { throw status.nothingObtained }
    }

    /// Prints what was done with each item of a number, also if nothing was done with others.
    func forEachItem(_ deed: Deed, _ output: Output, _ body: (WorkQueue, UInt64) throws -> String?) throws {
        let outcome = Swift.Result {
            try forEachItem(deed) { (queue, id) in
                guard let line = try body(queue, id) else { return false }
                output.append(line: line)
                return true
            }
        }
        try output.flush()
        try outcome.get()
    }

    /// What is done to an item of a number.
    enum Deed: String { case kicked, removed, cancelled, taken, shown }

    private static func hindrance(_ deed: Deed, _ id: UInt64, _ item: QueueItem.Info?) -> String {
        let reason =
            switch (deed, item?.state) {
            case (_, nil): "there is none with this number"
            case (.kicked, .buried?): "another item has its unique key by now"
            case (.kicked, let state?): "it is \(state.rawValue), and not buried"
            case (.removed, .taken?): "a worker has it; 'cancel' ends its command, and removes it"
            case (_, .taken?): "a worker has it"
            case (.taken, .blocked?): "it is blocked, behind an earlier item of its group or unique key"
            case (.taken, .buried?): "it is buried; 'kick' puts it back"
            case (_, _?): "a worker had it at that moment, and it has returned since; try again"
            }
        return "item \(id) was not \(deed): \(reason)"
    }

    /// The error of a take that has obtained nothing; for the item of a number, with the reason.
    func nothingTaken(_ id: UInt64?) -> CommandFailure {
        guard let id else { return status.nothingObtained }
        // If the namespace is gone, so is the item.
        let item = (try? use { try $0.item(id) }) ?? nil
        return status.nothingObtained(Self.hindrance(.taken, id, item))
    }

    func number(_ word: String) throws -> UInt64 {
        guard let id = UInt64(word) else { throw CommandFailure.usage("'\(word)' is no number of an item") }
        return id
    }

    private func duration(_ word: String) throws -> Duration {
        guard let duration = Duration(argument: word) else {
            throw CommandFailure.usage("'\(word)' is no duration: write \(DurationText.forms)")
        }
        return duration
    }

    // MARK: The queue

    /// Puts back what is buried, and prints how many items.
    func kick(_ output: Output) throws {
        let kicked = try use { try $0.kick(max: max) }
        output.append(line: "\(kicked)")
        try output.flush()
        if kicked == 0 { throw status.nothingObtained("no buried item was put back") }
    }

    /// Pauses the queue if there is one: this command does not know with which numbers to make it.
    func pause() throws {
        let duration = try words.first.map(self.duration)
        guard try use({ try $0.pause(for: duration, makesQueue: false) }) else { throw noQueue }
    }

    /// - Returns: How many items went with the queue.
    func removeQueue() throws -> Int {
        do {
            if let count = try use({ try $0.remove(cancellingTaken: force) }) { return count }
        } catch let error as SpaceError where error.code == .invalidArgument {
            let advice = "wait until its work has ended, 'cancel' it, or give --force"
            throw status.nothingObtained("the queue was not removed: \(error.reason); \(advice)")
        }
        throw noQueue
    }

    private var noQueue: CommandFailure { status.nothingObtained("there is no queue \(name.quotedForPeople)") }
}
