/// The log of a namespace's commits in a write transaction: its entries are applied, and how far they go is noted.
package struct AppliedLog {
    fileprivate let scope: WriteScope

    /// Begins to log, behind an entry after which nothing was changed.
    package func begin(at position: LogPosition, path: [UInt8], isStandby: Bool) throws(SpaceError) {
        (scope.counters.logEntry, scope.counters.followsLog) = (position.entry, isStandby)
        try scope.mainLog.put(.log, LogRow(position, path: path))
        scope.noteUpkeep()
    }

    /// Ends logging, or makes a standby a namespace of its own, whose numbers of claims are those of a new life.
    package func end() throws(SpaceError) {
        if scope.counters.followsLog {
            scope.counters.nextNumber = max(scope.counters.nextNumber, Counters.firstClaimOfLife)
        }
        (scope.counters.logEntry, scope.counters.followsLog) = (0, false)
        try scope.mainLog.delete(.log)
        scope.noteUpkeep()
    }

    // MARK: Applying

    /// Gives a row the value that a change says, or removes it.
    ///
    /// The row of counters is left out: the scope has counters of its own, which its commit stores.
    ///
    /// With `isInOrder`, each row is appended after all others of its table. Then pages are filled; otherwise LMDB
    /// leaves them half empty when rows come in order (mdb.c, mdb_page_split).
    package func apply(_ change: RowChange, isInOrder: Bool) throws(SpaceError) {
        guard !change.isOfCounters else { return }
        let (table, key) = (scope.table(numbered: change.table), Array(change.key))
        if let value = change.value {
            // Only a tree of its own has an end to append to, and the main one's is a section's.
            let isTree = (1...Tables.named).contains(change.table)
            if isInOrder, isTree { try table.append(key, value) } else { try table.put(key, value) }
        } else {
            try table.delete(key)
        }
        scope.noteUpkeep()
    }

    /// Wakes what waits for a change of a row: a tuple or a cell that is there, and any change of what is held, asked for
    /// or kept in named objects.
    ///
    /// Which waiter waits at which object is not looked up: all waiters at objects look again.
    private func noteAppeared(_ change: RowChange) {
        switch scope.tables.numbered[change.table] {
        case scope.tables.tuples:
            guard let row = change.value.flatMap({ TupleRow($0) }), !row.isClaimed else { break }
            if let id = UInt64(key: change.key) { scope.appeared.add(id) }
        case scope.tables.cells:
            if change.value != nil { scope.appeared.add(Interest(cell: String(decoding: change.key, as: UTF8.self))) }
        case scope.tables.holds, scope.tables.objects, scope.tables.elements: scope.appeared.addAllHolds()
        default: break
        }
    }

    /// Continues with the counters that belong to the applied changes, and reads what belongs to the counters.
    ///
    /// In a namespace that is a life of its own, the numbers of claims go on from the higher of both. Whether and where
    /// commits are logged is never taken over.
    package func goOn(with counters: Counters, asNewLife isNewLife: Bool) throws(SpaceError) {
        let old = scope.counters
        scope.counters = counters
        if isNewLife { scope.counters.nextNumber = max(counters.nextNumber, old.nextNumber) }
        (scope.counters.logEntry, scope.counters.followsLog) = (old.logEntry, old.followsLog)
        scope.shapes = try ShapeTable(reading: scope.snapshot, generation: counters.shapesGeneration)
        scope.noteUpkeep()
    }

    /// Applies the changes of a part of an entry, and wakes what waits for them.
    ///
    /// The counters among them are returned; they count once the whole entry is applied.
    package func applyPart(_ bytes: UnsafeRawBufferPointer) throws(SpaceError) -> Counters? {
        var found: Counters?
        try RowChange.forEach(in: bytes) { (change) throws(SpaceError) in
            if change.isOfCounters { found = change.value.flatMap { Counters($0) } }
            try apply(change, isInOrder: false)
            noteAppeared(change)
        }
        return found
    }

    /// Applies what the log has after a position, and moves the position.
    ///
    /// - Returns: What the last applied entry says beside its rows, or `nil` if there is no such entry; and whether the
    ///   log has no further entries.
    func catchUp(
        with log: any CommitLog,
        from position: inout LogPosition
    ) throws(SpaceError) -> (moment: LogMoment?, isDone: Bool) {
        var counters: Counters?
        var moment: LogMoment?
        let start = position
        let isDone = try log.forEachEntry(behind: position) { (bytes, last) throws(SpaceError) in
            scope.meter.goOn(for: .applying)
            counters = try applyPart(bytes) ?? counters
            guard let (end, said) = last else { return }
            if let counters {
                try goOn(with: counters, asNewLife: false)
            } else if !log.hasMembers {
                throw .damaged("an entry of the log \(log.title) lacks the counters")
            }
            (position, moment) = (end, said)
        }
        // What the log has already is no change to be logged.
        if position != start { scope.meter.changed.clear() }
        return (moment, isDone)
    }

    /// What an entry of this transaction says beside its rows.
    func moment(_ control: ControlFile, _ clock: NamespaceClock) -> LogMoment {
        LogMoment(
            sequence: scope.counters.sequence,
            time: scope.time,
            isPersistent: scope.logged.isPersistent ?? control.staying.isPersistent,
            clock: clock.milliseconds
        )
    }
}

extension WriteScope {
    /// The log of the namespace's commits.
    package var log: AppliedLog { AppliedLog(scope: self) }
}

extension Snapshot {
    /// Calls `body` with the row of counters.
    package func withCountersRow(_ body: (RowChange) throws(SpaceError) -> Void) throws(SpaceError) {
        try MainKey.counters.withBytes { (key) throws(SpaceError) in
            guard let counters = try main.get(Array(key)) else { throw .damaged(Counters.missing) }
            try body(RowChange(table: 0, key: key, value: counters))
        }
    }
}
