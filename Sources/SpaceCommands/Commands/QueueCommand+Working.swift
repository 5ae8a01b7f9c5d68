import SharedSpace

// Working on items with a command.

extension QueueCommand {
    /// What became of an item that was taken.
    private enum Outcome: Equatable {
        case ended(ChildCommand.Ending)
        /// The item returned before it could be ended.
        case late(String)
    }

    /// The status with which CMD says that no worker can do anything with the item.
    private static let buryStatus = ExitStatus.badData.rawValue

    func take() throws {
        let command = ChildCommand(wordCount: tail?.count ?? 0)
        let access = try access
        let id = try words.first.map(number)
        guard forever else {
            switch try workOnOne(access, wait, id, command) {
            case nil: throw nothingTaken(id)
            case .ended(let ending)?: return try ending.passOn()
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
        if let id { return try queue.take(id, deadline: ttr) }
        return try queue.takeBlocking(
            timeout: remaining ?? .zero,
            deadline: ttr,
            interruption: Signals.interruption
        )
    }

    private func work(
        on item: consuming QueueItem,
        _ access: NamespaceAccess,
        _ command: ChildCommand
    ) throws -> Outcome {
        let item = item
        var facts = access.facts(id: item.id, deliveries: item.deliveries, fencing: item.fencing)
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
                    delay: delay ?? growing,
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
