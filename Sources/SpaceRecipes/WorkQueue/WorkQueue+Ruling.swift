// Changes of a whole queue: its numbers, its pauses and its removal.

extension WorkQueue {
    // MARK: Numbers and removal

    /// Sets the queue's numbers, for all processes, even while the queue is in use.
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

    /// Removes the queue with all its items, even buried ones, and on request even while workers have items.
    ///
    /// Waiting workers go on waiting: the next put makes the queue again, with the numbers of its handle, and serves
    /// them. A process that waits for room puts into the new queue. More than 32 items are removed in several
    /// transactions: items that are put before the last of them are removed too. If the removal ends early, the queue
    /// stays, with the remaining items.
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

    // MARK: Pausing

    /// Whether the queue is paused.
    public var isPaused: Bool {
        get throws(SpaceError) {
            try attempt("look at a queue") { (core) throws(SpaceError) in
                try core.read { snapshot throws(SpaceError) in
                    try snapshot.queue(name)?.settings.isPaused(snapshot.clock.milliseconds) ?? false
                }
            }
        }
    }

    /// Gives no more items to workers, until the queue is resumed or the time has passed.
    ///
    /// Workers keep their items; items can still be put, and taken by number. The queue is made if it does not exist.
    /// The pause outlives the process, and is not part of a dump.
    ///
    /// - Parameter duration: How long, or `nil` for no limit.
    /// - Throws: `invalidArgument` for a negative duration, `typeMismatch`, and the errors of every write.
    public func pause(for duration: Duration? = nil) throws(SpaceError) {
        _ = try pause(for: duration, makesQueue: true)
    }

    /// Pauses the queue.
    ///
    /// - Parameters:
    ///   - duration: How long, or `nil` for no limit.
    ///   - makesQueue: Whether the queue is made if it does not exist.
    /// - Returns: Whether the queue exists.
    /// - Throws: `invalidArgument` for a negative duration, `typeMismatch`, and the errors of every write.
    package func pause(for duration: Duration?, makesQueue: Bool) throws(SpaceError) -> Bool {
        try attempt("pause a queue") { (core) throws(SpaceError) in
            try duration?.checkNotNegative("a pause")
            return try core.write(.adding) { scope throws(SpaceError) in
                if !makesQueue, try scope.snapshot.queue(name) == nil { return false }
                let time = duration.map { scope.clock.time(after: $0) } ?? .max
                try scope.queues.pause(name, try make(scope).rows, until: time)
                return true
            }
        }
    }

    /// Ends a pause.
    ///
    /// - Throws: `typeMismatch`, and the errors of every write.
    public func resume() throws(SpaceError) {
        try attempt("resume a queue") { (core) throws(SpaceError) in
            try core.write(.removing) { scope throws(SpaceError) in
                guard let (rows, settings) = try scope.snapshot.queue(name), settings.pausedUntil != 0 else { return }
                try scope.queues.pause(name, rows, until: 0)
            }
        }
    }
}
