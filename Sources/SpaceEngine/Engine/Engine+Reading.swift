import LMDB

/// Snapshots: each shows one whole commit, on a reader that is kept and renewed.
extension Engine {
    /// Lends a reader with the newest snapshot, until ``takeBack(_:)``.
    ///
    /// The caller copies what it reads before it gives the reader back. It does so soon, because a snapshot keeps freed
    /// pages from being reused.
    ///
    /// With `showsNear`, the snapshot shows the near end too. With `showsMarks`, it shows only the near end's marks:
    /// which tuples of the tables are taken. A caller that looks for tuples needs one of the two; all other rows are in
    /// the tables.
    package func lendReader(
        showsNear: Bool = false,
        showsMarks: Bool = false,
        holdsGate: Bool = false,
        evenAfterLeaving: Bool = false,
        evenAfterDeletion: Bool = false
    ) throws(SpaceError) -> Reader {
        try checkUsable(evenAfterLeaving: evenAfterLeaving, evenAfterDeletion: evenAfterDeletion)
        let reader = try readers.take(on: self, holdsGate: holdsGate)
        reader.showsNear = (showsNear || showsMarks) && near != nil
        if let near, reader.showsNear {
            try readers.renew(reader, beside: near, showsRing: showsNear, on: self, holdsGate: holdsGate)
        } else {
            try readers.renew(reader, on: self, holdsGate: holdsGate)
        }
        CrashPoint.reach(.snapshotTaken)
        return reader
    }

    /// Lends a reader with a snapshot whose tables have every tuple: the near end's are moved there first.
    ///
    /// The caller gives it back with ``takeBack(_:)``.
    package func lendReaderOfTables() throws(SpaceError) -> Reader {
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            let (_, hasTuples, hasMarks) = nearState
            if hasTuples || hasMarks {
                try commitWithRetries(.removing) { (scope) throws(SpaceError) in scope.noteUpkeep() }
                announce()
            }
            return try lendReader(holdsGate: true)
        }
    }

    /// Ends the snapshot of a reader that was lent.
    package func takeBack(_ reader: Reader) { readers.takeBack(reader) }

    package func snapshot(of reader: Reader) -> Snapshot {
        Snapshot(
            access: reader.transaction.access,
            tables: tables,
            clock: clock,
            near: reader.showsNear ? UnsafePointer(reader.near) : nil
        )
    }

    /// Runs `body` on a snapshot, under the gate.
    func readUnderGate(
        showsNear: Bool = false,
        evenAfterLeaving: Bool = false,
        _ body: (Snapshot) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let reader = try lendReader(showsNear: showsNear, holdsGate: true, evenAfterLeaving: evenAfterLeaving)
        defer { takeBack(reader) }
        try body(snapshot(of: reader))
        try reader.checkUndamaged()
    }
}
