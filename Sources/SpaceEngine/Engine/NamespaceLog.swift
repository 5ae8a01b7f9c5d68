import LMDB
import SpaceSystem
import TupleCoding

/// Commits of a namespace whose commits are logged: each is an entry of the log before it is one of the namespace.
package struct NamespaceLog {
    /// What the log needs to know between two transactions, for the holder of the gate.
    struct State {
        /// The log of the commits, once a commit has needed it.
        var opened: (path: String, log: any CommitLog)?
        /// The first numbers of a claim and of a watcher that no transaction of this process can have used whose outcome
        /// it does not know.
        var firstFreeNumbers: (claim: UInt64, watcher: UInt64) = (0, 0)
    }

    fileprivate let engine: Engine
    private var scope: WriteScope { engine.scope }

    /// Goes on with a transaction that has begun; called under the gate.
    ///
    /// Entries that the log has and the namespace lacks become a part of this transaction: their writer was killed
    /// between the two, or other machines have written them.
    ///
    /// - Returns: `false` if that was too much for one transaction: then it is committed without `body`.
    @inline(never)
    func commit(
        _ transaction: consuming WriteTransaction,
        removesDue: Bool,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) -> Bool {
        guard let row = try scope.mainLog.get(.log) else { throw .damaged("the row with the log is missing") }
        if scope.counters.followsLog { throw .standby(of: String(decoding: row.path, as: UTF8.self)) }
        let log = openLog(row)
        let start = row.position(entry: scope.counters.logEntry)
        try log.acquire(behind: start)
        defer { log.release() }
        var position = start
        let purpose = scope.meter.purpose
        let (moment, isDone) = try scope.log.catchUp(with: log, from: &position)
        if let moment { take(over: moment, of: log) }
        guard isDone else {
            engine.near?.turnOff()
            try finishApplied(to: position, path: row.path)
            try storeFinished(transaction)
            engine.announce()
            return false
        }
        if purpose == .adding {
            scope.meter.goOn(for: .adding)
        } else if log.hasMembers {
            // Other machines' entries may have filled the file up to its limit and beyond; a removal is possible even so.
            scope.meter.goOn(for: .applying)
        }
        if log.hasMembers { try checkMember() }
        scope.counters.nextNumber = max(scope.counters.nextNumber, engine.logState.firstFreeNumbers.claim)
        scope.counters.nextWatcher = max(scope.counters.nextWatcher, engine.logState.firstFreeNumbers.watcher)
        scope.logged = LoggedTransaction(scope.counters, by: log.hasMembers ? engine.sessionMember ?? 0 : 0)
        try engine.change(removesDue: removesDue, body)
        let isOwn = scope.hasOwnChanges(isPersistent: engine.control.staying.isPersistent)
        guard isOwn || position != start else { return true }
        engine.near?.turnOff()
        if isOwn {
            position = try append(to: log, behind: position, path: row.path)
        } else {
            try finishApplied(to: position, path: row.path)
        }
        do throws(SpaceError) {
            try storeFinished(transaction)
        } catch {
            throw isOwn ? Self.isLoggedOnly(error, log) : error
        }
        if let isPersistent = scope.logged.isPersistent { engine.control.staying.set(isPersistent: isPersistent) }
        return true
    }

    /// Ends a transaction in which nothing but entries of the log was applied.
    private func finishApplied(to position: LogPosition, path: [UInt8]) throws(SpaceError) {
        scope.counters.logEntry = position.entry
        try scope.mainLog.put(.log, LogRow(position, path: path))
        try scope.finish()
    }

    /// Appends the transaction's changes as one entry, and returns the position after it.
    private func append(
        to log: any CommitLog,
        behind position: LogPosition,
        path: [UInt8]
    ) throws(SpaceError) -> LogPosition {
        scope.counters.logEntry = position.entry + 1
        try scope.finish()
        let changes = try scope.meter.changed.changes(engine.tables, scope.access)
        let most = scope.meter.purpose == .adding ? Self.mostAddedBytes : Self.mostEntryBytes
        if log.hasMembers, changes.count > most { throw .tooLargeForAnEntry(changes.count) }
        let entry = LogEntry(changes, scope.log.moment(engine.control, engine.clock), behind: position)
        // The room for this row is ensured with that of the counters, beside which it lies.
        try scope.mainLog.put(.log, LogRow(entry.position, path: path))
        CrashPoint.reach(.beforeLogging)
        let terms = AppendTerms(isDurable: engine.mode == .durable, absentMember: scope.logged.absentMember)
        scope.logged.mayBeLogged = true
        do throws(SpaceError) {
            scope.logged.mayBeLogged = try log.append(entry, behind: position, terms)
        } catch {
            scope.logged.mayBeLogged = error.code == .outcomeUnknown
            if scope.logged.mayBeLogged {
                engine.logState.firstFreeNumbers = (scope.counters.nextNumber, scope.counters.nextWatcher)
            }
            throw error
        }
        guard scope.logged.mayBeLogged else { throw .outrun }
        CrashPoint.reach(.logged)
        return entry.position
    }

    /// The most bytes of changes in an entry of several machines: etcd refuses a request above 1.5 MiB for ever.
    private static let mostEntryBytes = 1_300_000
    /// The most in an entry that adds: what was written can be removed, although the journal has it once more then.
    private static let mostAddedBytes = 1 << 20

    /// Takes over what entries of other machines say beside their rows.
    private func take(over moment: LogMoment, of log: any CommitLog) {
        guard log.hasMembers else { return }
        engine.clock.setForward(to: moment.clock)
        engine.control.staying.set(isPersistent: moment.isPersistent)
    }

    /// Refuses a transaction of a session whose member has ended: its claims have returned, or are about to.
    private func checkMember() throws(SpaceError) {
        guard let member = engine.sessionMember else { return }
        guard try scope.snapshot.hasMember(member) else {
            throw .memberHasEnded
        }
    }

    private func storeFinished(_ transaction: consuming WriteTransaction) throws(SpaceError) {
        let due = engine.near == nil ? 0 : try scope.earliestDue()
        engine.near?.noteDue(before: due)
        try engine.store(transaction)
        engine.noteStored(due: due, keeps: [])
    }

    private func openLog(_ row: LogRow) -> any CommitLog {
        let path = String(decoding: row.path, as: UTF8.self)
        if let opened = engine.logState.opened, opened.path == path { return opened.log }
        let log: any CommitLog =
            row.isOfMembers
            ? engine.logSource.log()
            : FileLog(path: path, life: engine.control.header.life, isDurable: engine.mode == .durable)
        engine.logState.opened = (path, log)
        return log
    }

    // MARK: Beginning and ending

    /// Ends the log; it need not be there any more, nor be whole.
    package func end() throws(SpaceError) {
        try engine.checkUsable()
        do throws(SpaceError) {
            try end(catchingUp: true)
        } catch {
            try end(catchingUp: false)
        }
    }

    private func end(catchingUp: Bool) throws(SpaceError) {
        try commitUnlogged { () throws(SpaceError) in
            guard scope.counters.logEntry != 0 else { return }
            if catchingUp, !scope.counters.followsLog, let row = try scope.mainLog.getValid(.log) {
                let log = openLog(row)
                var position = row.position(entry: scope.counters.logEntry)
                try log.acquire(behind: position)
                defer { log.release() }
                _ = try scope.log.catchUp(with: log, from: &position)
                try scope.log.end()
                if !log.hasMembers { try appendEnd(to: log, behind: position) }
            } else {
                try scope.log.end()
            }
            engine.logState.opened = nil
        }
    }

    /// Appends an entry that changes nothing and tells the log's followers that the log ends.
    ///
    /// If this process is killed before its commit, the log goes on: the next writer applies the entry and appends its own.
    private func appendEnd(to log: any CommitLog, behind position: LogPosition) throws(SpaceError) {
        try scope.finish()
        var changes: [UInt8] = []
        try scope.snapshot.withCountersRow { $0.append(to: &changes) }
        var moment = scope.log.moment(engine.control, engine.clock)
        moment.clock = 0
        let entry = LogEntry(changes, moment, behind: position)
        _ = try log.append(entry, behind: position, AppendTerms(isDurable: engine.mode == .durable))
        CrashPoint.reach(.logged)
    }

    /// Runs a transaction that is not logged.
    package func commitUnlogged(_ body: () throws(SpaceError) -> Void) throws(SpaceError) {
        try engine.underGate { () throws(SpaceError) in
            let transaction = try engine.beginWrite()
            try scope.begin(
                transaction.access,
                .applying,
                isAwaited: engine.slots.isAnybodyWaiting,
                engine.shapeCache,
                engine.near,
                keeps: []
            )
            try body()
            guard scope.hasChanges else { return }
            if scope.counters.keepsNearEndOff { engine.near?.turnOff() }
            try scope.finish()
            try storeFinished(transaction)
            engine.giveBack()
            engine.announce()
        }
    }

    // MARK: A standby

    /// Applies an entry to a standby, as one transaction.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - file: The log.
    /// - Returns: `false` if another process has already applied the entry.
    /// - Throws: `incompatible` if the namespace is no standby of this log.
    package func follow(_ entry: LogFile.Entry, of file: borrowing LogFile) throws(SpaceError) -> Bool {
        try engine.checkUsable()
        var isNext = true
        try commitUnlogged { () throws(SpaceError) in
            guard scope.counters.followsLog, let row = try scope.mainLog.get(.log) else { throw Self.isNoStandby }
            isNext = scope.counters.logEntry < entry.number
            guard isNext else { return }
            guard scope.counters.logEntry + 1 == entry.number, row.link == entry.linkBefore else {
                throw Self.isNoStandby
            }
            var counters: Counters?
            try file.forEachChunk(of: entry) { (bytes) throws(SpaceError) in
                counters = try scope.log.applyPart(bytes) ?? counters
            }
            if let counters { try scope.log.goOn(with: counters, asNewLife: false) }
            scope.counters.logEntry = entry.number
            try scope.mainLog.put(.log, LogRow(entry.position, path: row.path))
        }
        return isNext
    }

    /// Notes where the log of a standby is from now on.
    ///
    /// - Throws: `incompatible` if the namespace is no standby.
    package func follow(at path: [UInt8]) throws(SpaceError) {
        try engine.checkUsable()
        try commitUnlogged { () throws(SpaceError) in
            guard scope.counters.followsLog, let row = try scope.mainLog.get(.log) else { throw Self.isNoStandby }
            try scope.mainLog.put(.log, LogRow(row.position(entry: scope.counters.logEntry), path: path))
            scope.noteUpkeep()
        }
    }

    private static var isNoStandby: SpaceError {
        .incompatible(
            "it does not follow this log any more",
            advice: "look at it with space show, and make a new standby"
        )
    }

    // MARK: A replica

    /// Applies an entry of the machines' log to a replica, as one transaction.
    ///
    /// - Parameter entry: The entry.
    /// - Returns: `false` if the replica has the entry already.
    /// - Throws: `damaged` if the entry is not the next one; `incompatible` if the namespace is no replica.
    package func apply(_ entry: EntryBytes) throws(SpaceError) -> Bool {
        try engine.checkUsable()
        var isNext = true
        try commitUnlogged { () throws(SpaceError) in
            guard let row = try scope.mainLog.get(.log), row.isOfMembers else { throw Self.isNoReplica }
            isNext = scope.counters.logEntry < entry.number
            guard isNext else { return }
            guard scope.counters.logEntry + 1 == entry.number, row.link == entry.linkBefore else {
                throw .entryDoesNotFollow(entry.number, scope.counters.logEntry)
            }
            var counters: Counters?
            try entry.forEachPart { (bytes) throws(SpaceError) in counters = try scope.log.applyPart(bytes) ?? counters
            }
            let position = LogPosition(entry: entry.number, end: 0, link: entry.link)
            try goOn(at: position, counters, clock: entry.moment.clock, isPersistent: entry.moment.isPersistent)
        }
        return isNext
    }

    /// Makes a replica equal to a base, as one transaction, and wakes the waiters for its changes.
    ///
    /// - Parameters:
    ///   - base: The position of the base, and what it says beside its rows.
    ///   - difference: How the base's rows differ from the replica's, with the base's counters.
    ///   - commit: The commit of the replica with which the base was compared.
    /// - Returns: `false` if the replica has been changed since that commit.
    /// - Throws: `incompatible` if the namespace is no replica; `limitReached`, `storageFull` and `transactionTooLarge` if
    ///   the difference has no room. The replica is then as it was before.
    package func goOn(
        from base: (position: LogPosition, clock: Int64, isPersistent: Bool),
        by difference: [UInt8],
        since commit: Int
    ) throws(SpaceError) -> Bool {
        try engine.checkUsable()
        var isUnchanged = true
        try commitUnlogged { () throws(SpaceError) in
            guard let row = try scope.mainLog.get(.log), row.isOfMembers else { throw Self.isNoReplica }
            isUnchanged = scope.isUnchanged(since: commit)
            guard isUnchanged else { return }
            let counters = try difference.withBytes { (bytes) throws(SpaceError) in try scope.log.applyPart(bytes) }
            guard let counters else { throw .damaged("the base lacks the row of counters") }
            try goOn(at: base.position, counters, clock: base.clock, isPersistent: base.isPersistent)
        }
        return isUnchanged
    }

    /// Notes in a replica's transaction how much of the log it has, and what the log says beside the rows.
    private func goOn(
        at position: LogPosition,
        _ counters: Counters?,
        clock milliseconds: Int64,
        isPersistent: Bool
    ) throws(SpaceError) {
        if let counters { try scope.log.goOn(with: counters, asNewLife: false) }
        scope.counters.logEntry = position.entry
        try scope.mainLog.put(.log, LogRow(position, path: LogRow.ofMembers))
        engine.clock.setForward(to: milliseconds)
        engine.control.staying.set(isPersistent: isPersistent)
    }

    private static var isNoReplica: SpaceError {
        .incompatible("it is no replica any more", advice: "look at it with space show")
    }

    // MARK: Errors

    /// The error for a commit that is in the log, and so counts, but is not in the namespace yet.
    private static func isLoggedOnly(_ error: SpaceError, _ log: any CommitLog) -> SpaceError {
        SpaceError(
            error.code,
            reason:
                "the change is in the log \(log.title), and counts; it shows here after the next write, because now "
                + "\(error.reason)",
            advice: error.advice
        )
    }
}

extension Engine {
    /// The log of the namespace's commits.
    package var log: NamespaceLog { NamespaceLog(engine: self) }
}

extension SpaceError {
    /// The error for a change of a standby that does not come from its log.
    package static func standby(of log: String) -> SpaceError {
        .incompatible(
            "it is a standby, in which only the log \(log.quotedForPeople) writes",
            advice: "write to the namespace whose log that is, or make this one independent: space replay NS --promote"
        )
    }
}
