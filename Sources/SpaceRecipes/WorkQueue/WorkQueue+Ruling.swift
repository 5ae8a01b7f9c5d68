package import SpaceSystem
import TupleCoding

// What others than its worker can do with an item, and what is ruled for a queue as a whole.

extension WorkQueue {
    // MARK: Items of others

    /// Lets the worker that has the item with a number have it until `duration` from now, if that is later than it may
    /// now; an item without a time to run stays without one.
    ///
    /// ``QueueItem/extend(by:)`` does the same for the worker itself.
    ///
    /// - Returns: Whether a worker has the item.
    /// - Throws: `invalidArgument` for a negative duration, `typeMismatch`, and the errors of every write.
    @discardableResult
    public func extend(_ id: UInt64, by duration: Duration) throws(SpaceError) -> Bool {
        try extend(id, by: duration, heldWith: nil)
    }

    /// Extends an item, given a ticket only if its worker has it with that.
    package func extend(
        _ id: UInt64,
        by duration: Duration,
        heldWith ticket: UInt64?
    ) throws(SpaceError) -> Bool {
        try attempt("extend an item") { (core) throws(SpaceError) in
            try duration.checkNotNegative("an extension")
            return try core.write(.removing) { scope throws(SpaceError) in
                guard let worker = try scope.snapshot.worker(onItem: id, of: name),
                    ticket ?? worker.ticket == worker.ticket
                else { return false }
                return try scope.queues.extendItem(hold(of: worker), by: duration)
            }
        }
    }

    /// Removes the item with a number for good, whatever its state, also while a worker has it.
    ///
    /// The worker is told: ``QueueItem/isHeld`` is `false` from then on, and ``QueueItem/complete()`` throws `holdLost`.
    /// The command that `space queue … take` runs gets SIGTERM, and SIGKILL 5 s later.
    ///
    /// - Returns: The state in which the item was, or `nil` if there is none with this number.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func cancel(_ id: UInt64) throws(SpaceError) -> QueueItem.Info.State? {
        try attempt("cancel an item") { (core) throws(SpaceError) in
            try core.write(.removing) { scope throws(SpaceError) in
                guard let (rows, _) = try scope.snapshot.queue(name),
                    let item = try scope.queues.cancelItem(id, rows, name)
                else { return nil }
                return QueueItem.Info(item, .null, scope.clock.milliseconds).state
            }
        }
    }

    // MARK: The queue as a whole

    /// Sets the queue's numbers, for all processes, also while it is in use.
    ///
    /// From then on the numbers that were set count, whatever numbers other handles give. The queue is made if it does
    /// not exist. An item that has come back too often by the new number is buried at its next return; items beyond a
    /// smaller bound stay.
    ///
    /// - Parameters:
    ///   - deliveries: The number of deliveries after which a returning item is buried; 0: never; `nil`: as it is.
    ///   - bound: The greatest number of items that are not buried; 0: no bound; `nil`: as it is.
    /// - Throws: `invalidArgument` for a number below 0 or above 2³²−1, `typeMismatch`, and the errors of every write.
    public func set(deliveries: Int? = nil, bound: Int? = nil) throws(SpaceError) {
        try attempt("set the numbers of a queue") { (core) throws(SpaceError) in
            try Self.check(deliveries: deliveries, bound: bound)
            try core.write(.adding) { scope throws(SpaceError) in
                var (rows, settings) = try make(scope, isSet: true)
                settings.deliveries = deliveries ?? settings.deliveries
                settings.bound = bound ?? settings.bound
                settings.isSet = true
                try scope.queues.store(settings, rows, name)
            }
        }
    }

    /// Removes the queue with all its items, also buried ones, and also while workers have items if that is wanted.
    ///
    /// Workers that wait, wait on: the next put makes the queue again, with the numbers of its handle, and serves them.
    /// A process that waits for room puts into the new queue. More than 32 items are removed in several transactions: what
    /// is put before the last of them is removed too, and if the removal ends early, the queue is there with the rest.
    ///
    /// - Parameter cancellingTaken: Whether items that workers have are cancelled too, as by ``cancel(_:)``; if not, the
    ///   queue is not removed while a worker has one, as by ``StoredObject/remove()``.
    /// - Returns: The number of items removed; `nil` if there is no such queue.
    /// - Throws: `invalidArgument` if a worker has an item, `typeMismatch`, and the errors of every write.
    @discardableResult
    public func remove(cancellingTaken: Bool) throws(SpaceError) -> Int? {
        try attempt("remove a queue") { (core) throws(SpaceError) in try remove(core, cancellingTaken: cancellingTaken)
        }
    }

    package func remove(_ core: NamespaceCore) throws(SpaceError) -> Bool {
        try check()
        return try remove(core, cancellingTaken: false) != nil
    }

    private func remove(_ core: NamespaceCore, cancellingTaken: Bool) throws(SpaceError) -> Int? {
        _ = core.endedHolders.returnIfAskingIsDue(at: name)
        var removed: Int?
        while true {
            let (count, isGone) = try core.write(.removing) { scope throws(SpaceError) -> (Int?, Bool) in
                guard let (rows, _) = try scope.snapshot.queue(name) else { return (nil, true) }
                return try scope.queues.remove(name, rows, cancellingTaken: cancellingTaken)
            }
            if let count { removed = (removed ?? 0) + count }
            if isGone { return removed }
        }
    }

    // MARK: Items held from command to command

    /// The item with a number that is held for a process, which any process may end then; `nil` if that process does not
    /// hold it.
    package func item(_ id: UInt64, heldFor process: ProcessIdentity) throws(SpaceError) -> QueueItem? {
        let worker = try attempt("look for an item that is held") { (core) throws(SpaceError) -> PlaceRow? in
            let holder = core.participation.renewed(.process(process, member: core.session.member))
            return try core.read { snapshot throws(SpaceError) in
                try snapshot.worker(onItem: id, of: name).flatMap { $0.holder.raw == holder.raw ? $0 : nil }
            }
        }
        guard let worker else { return nil }
        return try item(hold(of: worker))
    }

    private func hold(of worker: PlaceRow) -> Place {
        Place(name: name, kind: .queue, ticket: worker.ticket, rules: TakerRules())
    }
}
