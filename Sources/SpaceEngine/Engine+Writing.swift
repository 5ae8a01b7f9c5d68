import LMDB
import SpaceSystem

/// Commits: every write of this process ends in ``commit(_:_:_:)``, and what it made visible is announced.
extension Engine {
    /// Runs `body` in a write transaction and commits it; undoes everything if it throws.
    ///
    /// Without a result and so without generics, which the compiler specializes within one module alone.
    ///
    /// `body` may run more than once (in `.durable`, when it shares a transaction with another that fails), so it has no
    /// effects but on the scope and its result.
    package func write(
        _ operation: String,
        _ demand: DiskReserve.Demand,
        timeout: Duration? = nil,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try checkUsable(operation)
        if mode == .durable, timeout == nil {
            return try combiner.run(operation, demand, on: self, body)
        }
        try underGate(operation, timeout: timeout) { () throws(SpaceError) in
            try commit(operation, demand, body)
            announce()
        }
    }

    /// One transaction, under the gate.
    package func commit(
        _ operation: String,
        _ demand: DiskReserve.Demand,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let transaction: WriteTransaction
        do throws(LMDBError) {
            transaction = try environment.beginWrite()
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
        CrashPoint.reach(.begun)
        try scope.begin(
            transaction.access,
            operation: operation,
            isAwaited: slots.isAnybodyWaiting,
            shapeCache
        )
        do throws(SpaceError) {
            try removeWhatIsDue(besides: demand)
        } catch {
            throw error.within(operation, namespace: name.text)
        }
        try body(scope)
        guard scope.hasChanges else { return }
        try scope.finish()
        CrashPoint.reach(.beforeCommit)
        do throws(LMDBError) {
            try transaction.commit()
            CrashPoint.reach(.afterCommit)
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
        scope.noteCommitted(shapeCache)
    }

    /// Sees that there is room for a demand, and removes and returns what is due, as far as there is room for that too.
    ///
    /// The tuple of a claim takes its bytes anew where it returns. Where those are not to be had, it stays claimed for now:
    /// else nothing could be taken any more that would make the room.
    private func removeWhatIsDue(besides demand: DiskReserve.Demand) throws(SpaceError) {
        let all = scope.counters.expiring == 0 ? [] : try scope.snapshot.due(limit: 64)
        if !all.isEmpty {
            // All, or without large claims, or one by one.
            for (most, bytes) in [(all.count, Int.max), (all.count, environment.pageSize), (1, environment.pageSize)] {
                let due = try scope.due(all, most, claimsUpTo: bytes)
                guard !due.isEmpty else { break }
                scope.demand = demand + .removing(due.count, bytes: try scope.returningBytes(due))
                do throws(SpaceError) {
                    try ensureRoom(scope.demand)
                } catch {
                    if error.code == .limitReached || error.code == .storageFull { continue }
                    throw error
                }
                return try scope.remove(due: due)
            }
        }
        scope.demand = demand
        try ensureRoom(demand)
    }

    /// Sees that the blocks for all that a transaction does are there, from its beginning on; under the gate.
    ///
    /// Asked again with more, before that is done, while the transaction goes on.
    package func ensureRoom(_ demand: DiskReserve.Demand) throws(SpaceError) {
        let shapes = scope.shapes.indexed.count
        if scope.isJournaling {
            try room.ensure(try demand.journaled(scope.snapshot), shapes: shapes, scope.access)
        } else {
            try room.ensure(demand, shapes: shapes, scope.access)
        }
    }

    /// After the commit, still under the gate: the sequence, and grants to those who wait.
    package func announce() {
        guard scope.hasChanges else { return }
        control.sequence.store(scope.counters.sequence)
        if scope.hasNews {
            // A killed watcher must not be journaled for till the end of days, nor be looked for at every write.
            if scope.passesMark { notePassedMark() }
        }
        // The waiter's side: publish, fence, look. Ours: commit, fence, scan.
        SharedWord64.fence()
        if scope.hasNews { signalIfAwaited() }
        CrashPoint.reach(.rung)
        if slots.isAnybodyWaiting {
            grantAppeared()
            if scope.appeared.hasInterests {
                for interest in scope.appeared.interests { slots.announce(cell: interest, into: wakes) }
            }
        }
        CrashPoint.reach(.granted)
    }

    /// Rings the bell, if somebody waits for it.
    ///
    /// A burst of writes so rings once for each time that its watchers have read all. Under the gate: a writer stopped
    /// between taking the word back and ringing would leave the others to believe that the bell had rung; here they wait
    /// for him, and learn who he is, and one who is killed here is noticed by the next, who rings.
    private func signalIfAwaited() {
        guard control.isSignalAwaited.load() != 0, control.isSignalAwaited.exchange(0) != 0 else { return }
        signalChange()
    }

    /// Rings the bell, whether or not a process waits for it.
    package func signalChange() { bell.ring { (try? self.openFolder("ring the bell")) ?? nil } }

    /// Asks the next writer with news to ring.
    ///
    /// The listener's side: ask, fence, look. What is committed before the look is seen by it, and what comes after sees
    /// that the bell is awaited.
    package func awaitSignal() {
        control.isSignalAwaited.storeSequential(1)
        SharedWord64.fence()
    }

    /// Grants what became visible.
    ///
    /// Under the gate nobody else writes, so the rows are as the commit left them; should they not be had, everybody is
    /// woken.
    private func grantAppeared() {
        guard scope.appeared.tupleCount > 0 else { return }
        let wasAtHand = scope.appeared.withOnlyTuple { id, tuple in
            var appearance = Appearance(tuple)
            slots.grant(id, &appearance, into: wakes)
        }
        if wasAtHand { return }
        do throws(SpaceError) {
            try readUnderGate("grant") { (snapshot) throws(SpaceError) in
                try scope.appeared.forEachTuple { (id) throws(SpaceError) in
                    guard let row = try snapshot.tupleRow(id) else { return }
                    var appearance = Appearance(row.encoded)
                    slots.grant(id, &appearance, into: wakes)
                }
            }
        } catch {
            wakeEverybody()
        }
    }
}
