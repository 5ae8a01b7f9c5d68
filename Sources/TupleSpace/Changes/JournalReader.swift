import SpaceSystem

/// Reading the journal from a position on, for the sequence of changes and for the observers of a process.
package struct JournalReader {
    let core: NamespaceCore

    /// The most rows that are read in one snapshot, so that a snapshot is held for a bounded time.
    private static let journalBatch = 256
    /// The size of the changes, in bytes, after which no further one is copied out of the same snapshot.
    private static let journalBatchBytes = 1 << 20

    /// Reads a batch of the changes after a position that `isWanted` accepts, and a gap for each hole.
    package func readJournal(
        after position: UInt64,
        where isWanted: (JournalRow) -> Bool
    ) throws(SpaceError) -> (changes: [Change], reached: UInt64) {
        try readJournal(after: position) { (row) throws(TupleCodingError) in isWanted(row) ? try row.change() : nil }
    }

    /// Reads a batch of the changes after a position that `decode` returns, and a gap for each hole.
    ///
    /// `decode` decides on the row's bytes. It runs in a read transaction, so it must be short.
    /// Returns the changes, and the last change that was looked at, which is the next position. It equals `position`
    /// if there is nothing new.
    func readJournal(
        after position: UInt64,
        decode: (JournalRow) throws(TupleCodingError) -> Change?
    ) throws(SpaceError) -> (changes: [Change], reached: UInt64) {
        try core.read(evenAfterDeletion: true) { (snapshot) throws(SpaceError) in
            // The position in a damaged subscription's row can have any value.
            guard position < .max else { return ([], position) }
            let isShared = core.control.staying.isReplica
            var changes: [Change] = []
            var reached = position
            var rows = try snapshot.journal.scan(from: position + 1)
            var looked = 0
            var bytes = 0
            while looked < Self.journalBatch, bytes < Self.journalBatchBytes {
                guard let (_, row) = try rows.next() else { break }
                looked += 1
                if row.sequence > reached + 1 { changes.append(Change(gapFrom: reached + 1, to: row.sequence - 1)) }
                reached = row.sequence
                do throws(TupleCodingError) {
                    guard var change = try decode(row) else { continue }
                    if isShared {
                        change.machine = core.liveness.elsewhere(SessionNumber.member(of: row.batch), in: snapshot)
                    }
                    bytes += row.size
                    changes.append(change)
                } catch {
                    throw .damaged("change \(row.sequence) of the journal: \(error)")
                }
            }
            if looked == 0 {
                // Either there is nothing new, or the journal has dropped all of it.
                let last = try snapshot.counters().sequence
                guard last > position else { return ([], position) }
                changes.append(Change(gapFrom: position + 1, to: last))
                reached = last
            }
            return (changes, reached)
        }
    }
}

extension Snapshot {
    /// Calls `body` with each change that the journal holds, in order.
    package func forEachChange(_ body: (Change) throws -> Void) throws {
        var rows = try journal.scan()
        while let (_, row) = try rows.next() { try body(try change(of: row)) }
    }
}

extension NamespaceCore {
    /// The journal of changes.
    package var journal: JournalReader { JournalReader(core: self) }
}
