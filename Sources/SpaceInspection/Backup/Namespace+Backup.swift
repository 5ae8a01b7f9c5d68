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
    /// The backup is one moment of the namespace: one snapshot, the near end's tuples included. Writers can go on
    /// during the backup, but the pages that they free are not used again until it has ended. Each backup reads all
    /// rows of the namespace and of the file, and writes only those that differ.
    ///
    /// - Parameter path: The file; no other backup may add to it at the same time.
    /// - Returns: What was added.
    /// - Throws: `incompatible` if the file is a backup of another namespace, or of an earlier life of this one;
    ///   `badData` if it is no backup; `damaged`; `holderBusy` if another process adds to it; `storageFull`, and then the
    ///   file is as it was before.
    /// - Complexity: O(rows), and 50 to 100 bytes of memory for each row that the file has.
    package func backUp(to path: String) throws(SpaceError) -> BackupResult {
        try attempt("back up the namespace") { (core) throws(SpaceError) in
            let backup = try BackupAddition(to: path, of: core)
            let added = try backup.addMoment(asLog: false).added
            return BackupResult(
                entries: Int(clamping: added.position.entry),
                changes: added.changes,
                sequence: added.moment.sequence
            )
        }
    }
}
