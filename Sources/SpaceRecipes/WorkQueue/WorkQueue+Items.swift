package import SpaceSystem

// What others than their worker can do with items.

extension WorkQueue {
    // MARK: Items that workers have

    /// Extends the time to run of the item with a number to `duration` from now, if that is later than its present end;
    /// an item without a time to run stays without one.
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

    /// Removes the item with a number permanently, whatever its state, even while a worker has it.
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

    // MARK: Items that no worker has

    /// Puts buried items at the end of the queue, as if they were new.
    ///
    /// - Parameter max: The greatest number to put back, the oldest first. Items with damaged values stay buried, and
    ///   so do items whose unique key another item has by now.
    /// - Returns: The number of items put back.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func kick(max: Int = .max) throws(SpaceError) -> Int {
        try attempt("kick buried items") { (core) throws(SpaceError) in
            var kicked = 0
            let letters = try core.read { snapshot throws(SpaceError) -> [UInt64] in
                guard let (rows, _) = try snapshot.queue(name) else { return [] }
                return try snapshot.queueIDs(rows.key(.buried)).map(\.id)
            }
            for id in letters where kicked < max {
                do throws(SpaceError) {
                    if try kick(id, core) != nil { kicked += 1 }
                } catch  where error.code == .damaged {
                    continue
                }
            }
            return kicked
        }
    }

    /// Puts the buried item with a number at the end of the queue, as if it were new.
    ///
    /// - Returns: The item's new number, or `nil` if no buried item has the number, or another item has its unique key by
    ///   now.
    /// - Throws: `typeMismatch`, `damaged`, and the errors of every write.
    @discardableResult
    public func kick(_ id: UInt64) throws(SpaceError) -> UInt64? {
        try attempt("kick buried items") { (core) throws(SpaceError) in try kick(id, core) }
    }

    private func kick(_ id: UInt64, _ core: NamespaceCore) throws(SpaceError) -> UInt64? {
        // The item takes as much room as before.
        try core.write(.removing) { scope throws(SpaceError) in
            guard let (rows, _) = try scope.snapshot.queue(name) else { return nil }
            return try scope.queues.kickItem(id, rows, name)
        }
    }

    /// Removes the item with a number permanently, unless a worker has taken it.
    ///
    /// - Returns: Whether it was removed.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func remove(_ id: UInt64) throws(SpaceError) -> Bool {
        try attempt("remove an item from a queue") { (core) throws(SpaceError) in
            try core.write(.removing) { scope throws(SpaceError) in
                guard let (rows, _) = try scope.snapshot.queue(name) else { return false }
                return try scope.queues.removeItem(id, rows, name)
            }
        }
    }

    /// Removes all items that are ready, delayed or blocked; taken items and buried items stay.
    ///
    /// More than 32 items are removed in several transactions; an item that is put in between stays.
    ///
    /// - Returns: The number of items removed.
    /// - Throws: `typeMismatch`, and the errors of every write.
    @discardableResult
    public func drain() throws(SpaceError) -> Int {
        try attempt("drain a queue") { (core) throws(SpaceError) in
            let ids = try core.read { snapshot throws(SpaceError) -> [UInt64] in
                guard let (rows, _) = try snapshot.queue(name) else { return [] }
                return try snapshot.queueIDs(rows.key(.item)).map(\.id)
            }
            var removed = 0
            var rest = ids[...]
            while !rest.isEmpty {
                // From the last to the first, so that no item of a group becomes ready in between.
                let slice = rest.suffix(32)
                rest = rest.dropLast(slice.count)
                removed += try core.write(.removing) { scope throws(SpaceError) in
                    guard let (rows, _) = try scope.snapshot.queue(name) else { return 0 }
                    var count = 0
                    for id in slice.reversed() {
                        guard let item = try scope.snapshot.queueItem(rows, id), item.state != .buried else { continue }
                        if try scope.queues.removeItem(id, rows, name) { count += 1 }
                    }
                    return count
                }
            }
            return removed
        }
    }
}
