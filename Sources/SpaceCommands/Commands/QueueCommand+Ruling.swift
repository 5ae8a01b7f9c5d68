import Glibc
import SharedSpace
import SpaceSystem

// What is done to an item from outside, or by the command that works on it, and to a queue as a whole.

extension QueueCommand {
    // MARK: Items

    /// Gives an item more time: the one of a number, or that of the command which calls this.
    func extend() throws {
        guard let word = words.last, let duration = DurationArgument(argument: word)?.duration else {
            throw CommandFailure.usage("'\(words.last ?? "")' is no duration: write \(DurationText.forms)")
        }
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

    // MARK: The queue

    func setNumbers() throws {
        let access = try NamespaceAccess(common, namespace)
        try NamespaceAccess.use(try access.openExisting()) {
            try $0.queue(name).set(deliveries: deliveries, bound: bound)
        }
    }

    /// - Returns: How many items went with the queue.
    func removeQueue() throws -> Int {
        do {
            if let count = try use({ try $0.remove(cancellingTaken: force) }) { return count }
        } catch let error as SpaceError where error.code == .invalidArgument {
            let advice = "wait until its work has ended, 'cancel' it, or give --force"
            throw status.nothingObtained("the queue was not removed: \(error.reason); \(advice)")
        }
        throw status.nothingObtained("there is no queue \(name.quotedForPeople)")
    }

    // MARK: Held items

    /// Takes an item for the owner, and prints its number.
    func takeAndHold() throws {
        let holder = try owner.holder(of: "a held item")
        let access = try NamespaceAccess(common, namespace)
        let id = try words.first.map(number)
        try Output().checkTaken()
        let done = try access.obtain(wait, for: owner) { (namespace, remaining) -> Bool? in
            let queue = queue(of: namespace)
            guard let item = try taken(id, from: queue, remaining) else { return nil }
            let held = try item.handOver(to: holder)
            do {
                let output = Output()
                output.append(line: "\(held.id)")
                if value { output.append(line: held.value.json) }
                try output.flush()
            } catch {
                // The number did not reach a reader, so no process could end the item.
                try? held.attach().returnUnseen()
                throw error
            }
            return true
        }
        if done == nil { throw nothingTaken(id) }
    }

    /// Ends an item that `take --hold` took for the owner.
    func endHeld(_ body: (borrowing QueueItem) throws -> Void) throws {
        let holder = try owner.holder(of: "a held item")
        let id = try number(words[0])
        try use { queue in
            guard let item = try queue.item(id, heldFor: holder) else {
                throw CommandFailure(
                    .tryAgain,
                    "item \(id) is not held for process \(holder.pid): it was ended, or has returned to the queue; "
                        + "an item of 'take --hold' is its owner's (see --owner)"
                )
            }
            do {
                try body(item)
            } catch {
                // It is still held: this process is not the one with whose value it returns.
                _ = item.detach()
                throw error
            }
        }
    }
}
