import LMDB
import SpaceSystem

// Commits. Every write of this process ends in `commitOnce`, and what it made visible is announced. A write is tried
// again at three levels, each for a cause that the level above could only report:
//
// 1. `write`: no room, and a snapshot pins pages. The snapshot's reader may need the gate, and others' removals free
//    room, so it waits without the gate, and the whole write begins again.
// 2. `commitWithRetries`: no room, and tuples or cells have expired: they are removed in commits of their own, which may use
//    the space that is kept for removals, and the body runs again. Or no room, but the transaction did more than its body:
//    it returned overdue claims, or applied marks. Under the same gate the body runs once more without these extra steps,
//    so that a take that frees room is possible. Or no room, but the last commit freed many pages: LMDB uses what a
//    transaction has freed in the second one after it, so there is a commit without a change in between. The other cause is
//    that another machine's entry came first (`outrun`): the next transaction applies the entry, and the body sees the new
//    state.
// 3. `commitOnce`: the log has more than one transaction should apply. A first part is committed without the body,
//    which then runs in the next transaction, for the first time.
//
// A body that may run only once, that of a user's transaction, is given to `commitBody`.

extension Engine {
    /// Runs `body` in a write transaction and commits it; if `body` throws, everything is undone.
    ///
    /// `body` may run more than once: in `.durable`, it may share a transaction with an operation that fails. So it
    /// must have no effects except on the scope and on the result that its caller keeps. The method has no result, and
    /// so no generics, which the compiler specializes only within one module.
    ///
    /// A write that has no room because pages are pinned by a snapshot waits, without the gate, until that snapshot has
    /// ended, and runs again. It waits for a second at most.
    ///
    /// `keeps` is what the transaction may leave in the near end.
    package func write(
        _ purpose: WritePurpose,
        timeout: Duration? = nil,
        keeps: NearKept = [],
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try checkUsable()
        do throws(SpaceError) {
            try combineOrCommit(purpose, timeout: timeout, keeps: keeps, body)
        } catch  where error.snapshotInTheWay != nil {
            try writeAgain(after: error, purpose, timeout: timeout, keeps: keeps, body)
        }
    }

    /// Writes again after a refusal for lack of room, each time that a snapshot in the way ends in time.
    @inline(never)
    private func writeAgain(
        after refusal: SpaceError,
        _ purpose: WritePurpose,
        timeout: Duration?,
        keeps: NearKept,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let deadline = MonotonicInstant.now.advanced(by: min(timeout ?? self.timeout, ReaderWait.patience))
        var refusal = refusal
        while let snapshot = refusal.snapshotInTheWay, readerWait.wait(for: snapshot, until: deadline, on: self) {
            do throws(SpaceError) {
                return try combineOrCommit(purpose, timeout: timeout, keeps: keeps, body)
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    @inline(__always)
    private func combineOrCommit(
        _ purpose: WritePurpose,
        timeout: Duration?,
        keeps: NearKept,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        if mode == .durable, timeout == nil {
            return try combiner.run(purpose, on: self, body)
        }
        try underGate(timeout: timeout) { () throws(SpaceError) in
            try commitWithRetries(purpose, keeps: keeps, body)
            announce()
        }
    }

    /// Runs `body` in a transaction with what else is submitted at the same time, on another thread.
    ///
    /// `body` may run more than once, and must have no effects except on the scope and on a result that its caller keeps.
    /// `completion` is called on some thread, with the error if nothing was changed or the outcome is unknown; it must not
    /// wait.
    package func submit(
        _ purpose: WritePurpose,
        _ body: @escaping @Sendable (WriteScope) throws(SpaceError) -> Void,
        completion: @escaping @Sendable (SpaceError?) -> Void
    ) { combiner.submit(purpose, on: self, body, completion: completion) }

    @inline(__always)
    func beginWrite() throws(SpaceError) -> WriteTransaction {
        try lmdb { () throws(LMDBError) in try environment.beginWrite() }
    }

    /// Runs `body` in a transaction, and again in another one if that may help; called under the gate.
    ///
    /// When a claim's tuple returns, it needs space for its rows in the index, and for a long value. If that leaves too
    /// little for `body`, `body` runs again in a transaction that returns nothing: failing instead would also stop the
    /// takes that free space. The same holds for marks, which are then applied before the body, one by one.
    func commitWithRetries(
        _ purpose: WritePurpose,
        keeps: NearKept = [],
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        // If other machines are first again and again, that is not an ordinary race.
        let mostReruns = 4
        var (removesDue, keeps, reruns, dueCommits) = (true, keeps, 0, purpose == .applying ? 0 : DueCommits.few)
        var mayUseFreed = purpose != .applying
        while true {
            do throws(SpaceError) {
                return try commitOnce(purpose, removesDue: removesDue, keeps: keeps, body)
            } catch  where error.code == .outrun && reruns < mostReruns {
                reruns += 1
            } catch  where error.isOfRoom && dueCommits > 0 && DueCommits(self).isAnyDue {
                // More each time, so that a large body does not run often.
                dueCommits = DueCommits(self).run(dueCommits) ? 4 * dueCommits : 0
            } catch  where error.isOfRoom && hasMarks {
                let couldReturnLess = removesDue && scope.hasRemovedDue
                do throws(SpaceError) {
                    try Marking(self).applySingly()
                } catch  where error.isOfRoom && couldReturnLess {
                    removesDue = false
                }
            } catch  where error.isOfStepTooLarge && removesDue && scope.hasRemovedDue {
                (removesDue, keeps) = (false, [])
            } catch  where error.isOfRoom && mayUseFreed && FreedPages(self).areMany {
                mayUseFreed = false
                try FreedPages(self).makeUsable()
            }
        }
    }

    /// Whether the tables have a tuple that was taken or claimed by a mark that no commit has applied; under the gate.
    private var hasMarks: Bool { near.map { $0.marks.count > 0 } ?? false }

    /// Runs `body` in a transaction, once at most; called under the gate.
    ///
    /// The marks are applied first if there may be no room for both, or if `body` may need the pages that they free; and
    /// what is due is removed first.
    package func commitBody(_ body: (WriteScope) throws(SpaceError) -> Void) throws(SpaceError) {
        if diskReserve.isNearLimit {
            if hasMarks { try Marking(self).applyAhead() }
            if DueCommits(self).isAnyDue { DueCommits(self).run(4 * DueCommits.few) }
            if FreedPages(self).areMany { try FreedPages(self).makeUsable() }
        }
        var hasRun = false
        func commit() throws(SpaceError) {
            try commitOnce(.removing) { (scope) throws(SpaceError) in
                hasRun = true
                try body(scope)
            }
        }
        do throws(SpaceError) {
            try commit()
        } catch  where error.isOfRoom && hasMarks {
            if hasRun {
                // There may be room for the caller's next attempt.
                try? Marking(self).applySingly()
                throw error
            }
            try Marking(self).applySingly()
            try commit()
        }
    }

    /// Runs `body` in one transaction, once; called under the gate.
    @inline(__always)
    func commitOnce(
        _ purpose: WritePurpose,
        removesDue: Bool = true,
        keeps: NearKept = [],
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        do throws(SpaceError) {
            try runTransaction(purpose, removesDue: removesDue, keeps: keeps, body)
        } catch {
            giveBack()
            throw error
        }
        giveBack()
    }

    /// Gives back the disk space that the transaction has not used: it is reserved for the tuples in the near end.
    @inline(__always)
    func giveBack() { diskReserve.giveBack(hasPromise: near.map { $0.allowed.loadRelaxed() != 0 } ?? false) }

    @inline(__always)
    private func runTransaction(
        _ purpose: WritePurpose,
        removesDue: Bool,
        keeps: NearKept,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        var transaction = try beginWrite()
        CrashPoint.reach(.begun)
        var keeps = keeps
        if keeps.contains(.ring), !(near?.mayKeep(end: environment.info.lastPage + 1) ?? false) { keeps.remove(.ring) }
        try begin(transaction.access, purpose, keeps: keeps)
        if scope.counters.logEntry != 0 {
            while try !log.commit(transaction, removesDue: removesDue, body) {
                transaction = try beginWrite()
                try begin(transaction.access, purpose, keeps: keeps)
            }
            return
        }
        try change(removesDue: removesDue, body)
        // What was taken over from a file that was cut is not what was there, and a body that found nothing was misled.
        if control.isCut { try checkUsable() }
        guard scope.hasChanges else { return }
        var due: Int64 = 0
        if let near {
            if scope.counters.keepsNearEndOff { near.turnOff() }
            if keeps.contains(.ring) { near.noteKept() }
            due = try scope.earliestDue()
            near.noteDue(before: due)
        }
        try scope.finish()
        try store(transaction)
        CrashPoint.reach(.nearStored)
        noteStored(due: due, keeps: keeps)
    }

    @inline(__always)
    private func begin(_ access: Access, _ purpose: WritePurpose, keeps: NearKept) throws(SpaceError) {
        try scope.begin(
            access,
            purpose,
            isAwaited: slots.isAnybodyWaiting,
            shapeCache,
            near,
            keeps: keeps
        )
    }

    /// What is due, and then the transaction's own changes.
    @inline(__always)
    func change(removesDue: Bool, _ body: (WriteScope) throws(SpaceError) -> Void) throws(SpaceError) {
        if removesDue, scope.counters.expiring > 0 { try scope.due.removeAll(pageSize: environment.pageSize) }
        try body(scope)
    }

    @inline(__always)
    func store(_ transaction: consuming WriteTransaction) throws(SpaceError) {
        diskReserve.prepareCommit(scope.meter.bytes)
        if scope.appliesMarks { near?.beginApplying() }
        CrashPoint.reach(.beforeCommit)
        do throws(LMDBError) {
            try transaction.commit()
            CrashPoint.reach(.afterCommit)
        } catch {
            // Perhaps the transaction is committed nevertheless; then the marks that it applied must be dropped.
            if scope.appliesMarks { control.gateNeedsRecovery.store(1) }
            throw SpaceError(error)
        }
    }

    /// Notes that the transaction is committed.
    @inline(__always)
    func noteStored(due: Int64, keeps: NearKept) {
        if let near {
            near.note(nextNumber: scope.counters.nextNumber, due: due)
            if scope.appliesMarks {
                near.dropMarks(scope.counters.appliedMarks)
            } else {
                near.marks.goOn(behind: scope.counters.appliedMarks)
            }
            if !keeps.contains(.ring) {
                near.empty(next: scope.counters.nextTuple, isOff: scope.counters.keepsNearEndOff)
                wakeForPlace(near)
            }
        } else if scope.counters.expiring == 0 {
            // The process's next look need not ask.
            absences.note(claimDue: .max, asOf: lastCommit)
        }
        scope.noteCommitted(shapeCache)
    }

    /// Announces a commit, still under the gate: stores the sequence, signals the watchers, and grants tuples to
    /// waiters.
    package func announce() {
        guard scope.hasChanges else { return }
        lastWriter.note(gate)
        control.sequence.store(scope.counters.sequence)
        if scope.hasNews, scope.isSweepDue { sweepDue.raise() }
        // The waiter's side is: publish, fence, look. The writer's side is: commit, fence, scan.
        SharedWord64.fence()
        if scope.hasNews, changeSignal.takeRequest(in: control) { signalChange() }
        CrashPoint.reach(.rung)
        if slots.isAnybodyWaiting {
            grantAppeared()
            if scope.appeared.hasInterests {
                for interest in scope.appeared.interests { slots.announce(cell: interest, into: wakes) }
                if scope.appeared.hasAllHolds { slots.announceHolds(into: wakes) }
            }
        }
        CrashPoint.reach(.granted)
    }

    /// Sends the change signal, whether or not a process waits for it.
    package func signalChange() { changeSignal.send { (try? self.openFolder()) ?? nil } }

    /// Grants the tuples that became visible.
    ///
    /// Under the gate no other process writes, so the rows are as the commit left them. If they can't be read, all
    /// waiters are woken.
    private func grantAppeared() {
        guard scope.appeared.tupleCount > 0 else { return }
        let wasAtHand = scope.appeared.withOnlyTuple { id, tuple in
            var appearance = Appearance(tuple)
            slots.grant(id, &appearance, into: wakes)
        }
        if wasAtHand { return }
        do throws(SpaceError) {
            try readUnderGate { (snapshot) throws(SpaceError) in
                try scope.appeared.forEachTuple { (id) throws(SpaceError) in
                    guard let row = try snapshot.tupleRow(id) else { return }
                    var appearance = Appearance(row.encoded)
                    slots.grant(id, &appearance, into: wakes)
                }
            }
        } catch {
            slots.wakeEverybody(into: wakes)
        }
    }
}
