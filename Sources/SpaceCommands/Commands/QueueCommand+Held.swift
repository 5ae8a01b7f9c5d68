import SharedSpace
import SpaceSystem

// Items that are taken for an owner, and not for a command.

extension QueueCommand {
    /// Takes an item for the owner, and prints its number.
    func takeAndHold() throws {
        let holder = try owner.holder(of: "a held item")
        let id = try words.first.map(number)
        try Output().checkTaken()
        let done = try access.obtain(wait, for: owner) { (namespace, remaining) -> Bool? in
            let queue = queue(of: namespace)
            guard let item = try taken(id, from: queue, remaining) else { return nil }
            let held = try item.handOver(to: holder)
            // If the number does not reach a reader, no process can end the item.
            try Output.print(lines: ["\(held.id)"] + (value ? [held.value.json] : [])) {
                try held.attach().returnUnseen()
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
