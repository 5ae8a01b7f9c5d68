import SpaceEngine
import SpaceSystem
import TupleCoding

/// What a backup has added to its file.
package struct BackupResult: Sendable {
    /// How many entries the file has.
    package let entries: Int
    /// How many changes of rows were added; 0 if nothing has changed since the last entry.
    package let changes: Int
    /// The number of the namespace's last change.
    package let sequence: UInt64
}

extension Namespace {
    /// Adds what has changed since the last time to a backup's file, and makes the file if there is none.
    ///
    /// The backup is one moment of the namespace: one snapshot, the near end's tuples included. Writers go on
    /// meanwhile, but pages that they free are not used again until the backup has ended. Each backup reads all rows of
    /// the namespace and of the file, and writes only those that differ.
    ///
    /// - Parameter path: The file; no other backup may add to it at the same time.
    /// - Returns: What was added.
    /// - Throws: `incompatible` if the file is a backup of another namespace, or of an earlier life of this one;
    ///   `misuse` if it is no backup; `damaged`; `holderBusy` if another process adds to it; `storageFull`, and then the
    ///   file is as it was before.
    /// - Complexity: O(rows), and 50 to 100 bytes of memory for each row that the file has.
    package func backUp(to path: String) throws(SpaceError) -> BackupResult {
        try attempt("back up the namespace") { (core) throws(SpaceError) in
            let file = try BackupFile.adding(to: path)
            let subject = BackupFile.Subject(header: core.control.header, name: core.name.text)
            let known = try file.subject()
            if let known { try Self.check(known, is: subject, in: path) }
            let contents =
                try known.map { (known) throws(SpaceError) in try file.contents(known) }
                ?? BackupFile.Contents(link: subject.hash)
            if let damage = contents.damage { throw damage }
            var fingerprints = RowFingerprints()
            try file.forEachChange(of: contents.entries) { fingerprints.note($0) }

            let reader = try core.engine.lendSettledReader()
            defer { core.engine.takeBack(reader) }
            let snapshot = core.engine.snapshot(of: reader)
            let counters = try snapshot.counters()
            var entry = BackupChunk()
            entry.entry = UInt64(contents.entries.count + 1)
            entry.sequence = counters.sequence
            entry.time = Clock.realtimeMilliseconds()
            entry.isPersistent = core.control.persistent.load() != 0
            // That the namespace stays is no row; a moment that differs in nothing else gets the counters again.
            let isOther = contents.entries.last.map { $0.isPersistent != entry.isPersistent } ?? false
            var writer = BackupWriter(file, beginning: known == nil ? subject : nil, behind: contents, entry)
            do throws(SpaceError) {
                try snapshot.forEachRow { (row) throws(SpaceError) in
                    let differs = fingerprints.strike(row)
                    if differs || isOther && row.isOfCounters { try writer.add(row) }
                }
                if !fingerprints.isEmpty {
                    try file.forEachChange(of: contents.entries) { (row) throws(SpaceError) in
                        guard fingerprints.strikeGone(row) else { return }
                        try writer.add(RowChange(table: row.table, key: row.key, value: nil))
                    }
                }
                try core.engine.checkUndamaged(reader)
                try writer.finish()
            } catch {
                writer.cancel()
                throw error
            }
            return BackupResult(
                entries: contents.entries.count + (writer.count > 0 ? 1 : 0),
                changes: writer.count,
                sequence: counters.sequence
            )
        }
    }

    private static func check(
        _ known: BackupFile.Subject,
        is subject: BackupFile.Subject,
        in path: String
    ) throws(SpaceError) {
        guard known.header.life != subject.header.life else { return }
        let reason =
            known.name == subject.name
            ? "has an earlier life of the namespace, which was deleted since"
            : "is a backup of \(known.name.quotedForPeople)"
        throw .incompatible("\(path.quotedForPeople) \(reason)", advice: "name another file")
    }
}

extension Snapshot {
    /// Calls `visit` for each row of the namespace but the one with its life, which a copy doesn't share.
    fileprivate func forEachRow(_ visit: (RowChange) throws(SpaceError) -> Void) throws(SpaceError) {
        for table in 1..<tables.numbered.count {
            var rows = try self.table(numbered: table).scan()
            while let (key, value) = try rows.nextBytes() {
                try visit(RowChange(table: table, key: key, value: value))
            }
        }
        guard let counters = try main.get(Array("counters".utf8)) else {
            throw .damaged("the row of counters is missing")
        }
        try Array("counters".utf8).withBytes { (key) throws(SpaceError) in
            try visit(RowChange(table: 0, key: key, value: counters))
        }
    }
}
