import LMDB
import SpaceSystem
import TupleCoding

/// Commits of a namespace whose commits are logged: each is an entry of the log before it is one of the namespace.
extension Engine {
    /// Goes on with a transaction that has begun; called under the gate.
    ///
    /// What the log has and the namespace has not becomes a part of this transaction: its writer was killed between the
    /// two.
    @inline(never)
    func commitLogged(
        _ transaction: consuming WriteTransaction,
        removesDue: Bool,
        _ body: (WriteScope) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        guard var row = try scope.mainLog.get(.log) else { throw .damaged("the row with the log is missing") }
        if scope.counters.followsLog { throw .standby(of: String(decoding: row.path, as: UTF8.self)) }
        let log = openLog(row)
        try log.acquire()
        defer { log.release() }
        var position = row.position(entry: scope.counters.logEntry)
        try scope.catchUp(with: log, from: &position)
        try change(removesDue: removesDue, body)
        guard scope.hasChanges else { return }
        near?.turnOff()
        scope.counters.logEntry = position.entry + 1
        try scope.finish()
        let changes = try scope.meter.changed.changes(tables, scope.access)
        let entry = log.entry(changes, scope.moment(control), behind: position)
        row = LogRow(entry.position, path: row.path)
        // The room for this row is ensured with that of the counters, beside which it lies.
        try scope.mainLog.put(.log, row)
        CrashPoint.reach(.beforeLogging)
        try log.append(entry, behind: position, isDurable: mode == .durable)
        CrashPoint.reach(.logged)
        do throws(SpaceError) {
            try storeFinished(transaction)
        } catch {
            throw Self.isLoggedOnly(error, log)
        }
    }

    private func storeFinished(_ transaction: consuming WriteTransaction) throws(SpaceError) {
        let due = near == nil ? 0 : try scope.earliestDue()
        near?.noteDue(before: due)
        try store(transaction)
        noteStored(due: due, keepsNear: false)
    }

    private func openLog(_ row: LogRow) -> FileLog {
        let path = String(decoding: row.path, as: UTF8.self)
        if let log, log.path == path { return log }
        let log = FileLog(path: path, life: control.header.life, isDurable: mode == .durable)
        self.log = log
        return log
    }

    // MARK: Beginning and ending

    /// Ends the log; it need not be there any more, nor be whole.
    package func endLog() throws(SpaceError) {
        try checkUsable()
        do throws(SpaceError) {
            try endLog(catchingUp: true)
        } catch {
            try endLog(catchingUp: false)
        }
    }

    private func endLog(catchingUp: Bool) throws(SpaceError) {
        try commitUnlogged { () throws(SpaceError) in
            guard scope.counters.logEntry != 0 else { return }
            if catchingUp, !scope.counters.followsLog, let row = try scope.mainLog.getValid(.log) {
                let log = openLog(row)
                try log.acquire()
                defer { log.release() }
                var position = row.position(entry: scope.counters.logEntry)
                try scope.catchUp(with: log, from: &position)
            }
            try scope.endLog()
            log = nil
        }
    }

    /// Runs a transaction that is not logged.
    private func commitUnlogged(_ body: () throws(SpaceError) -> Void) throws(SpaceError) {
        try underGate { () throws(SpaceError) in
            let transaction = try beginWrite()
            try scope.begin(
                transaction.access,
                .removing,
                isAwaited: slots.isAnybodyWaiting,
                shapeCache,
                near,
                keepsNear: false
            )
            try body()
            guard scope.hasChanges else { return }
            if scope.counters.keepsNearEndOff { near?.turnOff() }
            try scope.finish()
            try storeFinished(transaction)
            announce()
        }
    }

    // MARK: A standby

    /// Applies an entry to a standby, as one transaction.
    ///
    /// - Parameters:
    ///   - entry: The entry.
    ///   - file: The log.
    /// - Returns: `false` if another process has applied the entry meanwhile.
    /// - Throws: `incompatible` if the namespace is no standby of this log.
    package func follow(_ entry: LogFile.Entry, of file: borrowing LogFile) throws(SpaceError) -> Bool {
        try checkUsable()
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
                counters = try scope.applyPart(bytes) ?? counters
            }
            if let counters { try scope.goOn(with: counters, asNewLife: false) }
            scope.counters.logEntry = entry.number
            try scope.mainLog.put(.log, LogRow(entry.position, path: row.path))
        }
        return isNext
    }

    private static var isNoStandby: SpaceError {
        .incompatible("it does not follow this log any more", advice: "look at it with space show, and begin anew")
    }

    // MARK: Errors

    /// The error for a commit that is in the log, and so counts, and is not in the namespace yet.
    private static func isLoggedOnly(_ error: SpaceError, _ log: FileLog) -> SpaceError {
        SpaceError(
            error.code,
            reason:
                "the change is in the log \(log.title), and counts; it shows here after the next write, because now "
                + "\(error.reason)",
            advice: error.advice
        )
    }
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
