import Glibc
import LMDB
import SpaceSystem

/// Snapshots: one whole commit each, on a reader that is kept and renewed.
extension Engine {
    private static let renewals = 64
    private static let roundsOfRenewals = 32

    /// Lends a reader with the newest snapshot, until ``takeBack(_:)``.
    ///
    /// What is read is copied out before then, and soon: a snapshot keeps freed pages from being used again.
    package func lendReader(
        _ operation: String,
        holdsGate: Bool = false,
        evenAfterLeaving: Bool = false,
        evenAfterDeletion: Bool = false
    ) throws(SpaceError) -> Reader {
        try checkUsable(operation, evenAfterLeaving: evenAfterLeaving, evenAfterDeletion: evenAfterDeletion)
        let reader = try takeReader(operation, holdsGate: holdsGate)
        try renew(reader, operation, holdsGate: holdsGate)
        CrashPoint.reach(.snapshotTaken)
        reader.names.begin(operation)
        return reader
    }

    /// Ends the snapshot of a reader that was lent.
    package func takeBack(_ reader: Reader) {
        reader.transaction.reset()
        readers.put(reader)
    }

    package func snapshot(of reader: Reader) -> Snapshot {
        Snapshot(access: reader.transaction.access, tables: tables, clock: clock, names: reader.names)
    }

    /// Throws if a page that was cut off while it was read has read as zeros; asked once all is read.
    package func checkUndamaged(_ reader: Reader, _ operation: String) throws(SpaceError) {
        if reader.transaction.access.isDamaged {
            throw SpaceError(LMDBError.damagedPage, operation, namespace: name.text)
        }
    }

    /// Runs `body` on a snapshot, under the gate.
    func readUnderGate(
        _ operation: String,
        evenAfterLeaving: Bool = false,
        _ body: (Snapshot) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let reader = try lendReader(operation, holdsGate: true, evenAfterLeaving: evenAfterLeaving)
        defer { takeBack(reader) }
        try body(snapshot(of: reader))
        try checkUndamaged(reader, operation)
    }

    /// Takes the newest snapshot; the reader is reset, and goes back if this fails.
    ///
    /// A reader preempted between LMDB's look at the last id and its own entry in the table can see later pages than its id
    /// says; so the id must be the last one, or it starts over. That ends after a round or two, unless a writer was
    /// killed or stopped between the meta page, which says the last id, and the word that readers take theirs from: then
    /// the gate recovers what he left, or tells who he is. Where that changes nothing, the meta pages or the lock file are damaged.
    private func renew(_ reader: Reader, _ operation: String, holdsGate: Bool) throws(SpaceError) {
        for _ in 0..<Self.roundsOfRenewals {
            for _ in 0..<Self.renewals {
                do throws(LMDBError) {
                    if try reader.transaction.renew() { return }
                } catch {
                    // The next read that took it would fail too.
                    readers.drop()
                    throw SpaceError(error, operation, namespace: name.text)
                }
                reader.transaction.reset()
            }
            do throws(SpaceError) {
                if holdsGate { try recover(operation) } else { try underGate(operation) {} }
            } catch {
                readers.put(reader)
                throw error
            }
        }
        readers.put(reader)
        environment.markDamaged()
        throw .damaged(operation, namespace: name.text, "the meta pages and the lock file name different commits")
    }

    @inline(__always)
    private func takeReader(_ operation: String, holdsGate: Bool) throws(SpaceError) -> Reader {
        if let idle = readers.take() { return idle }
        return try oneMoreReader(operation, holdsGate: holdsGate)
    }

    /// A reader where none is idle; apart, so that the way of all reads stays short.
    @inline(never)
    private func oneMoreReader(_ operation: String, holdsGate: Bool) throws(SpaceError) -> Reader {
        // A thread with a reader may wait for the gate: the gate's holder waits for no reader.
        if let reader = readers.takeOrReserve(mayWait: !holdsGate) { return reader }
        do throws(SpaceError) {
            if holdsGate { return try newReader(operation) }
            return try underGate(operation) { () throws(SpaceError) in try newReader(operation) }
        } catch {
            readers.drop()
            throw error
        }
    }

    /// A new reader slot, under the gate: LMDB waits on its reader mutex without a bound.
    private func newReader(_ operation: String) throws(SpaceError) -> Reader {
        do throws(LMDBError) {
            do throws(LMDBError) {
                return try beginReader()
            } catch .readersFull {
                // mdb_txn_begin returns this without cleaning up after the dead.
                try environment.forgetDeadReaders()
                return try beginReader()
            }
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
    }

    /// A reader that is to be renewed, like those in the pool.
    private func beginReader() throws(LMDBError) -> Reader {
        let reader = Reader(try environment.beginRead(), namespace: name.text)
        reader.transaction.reset()
        return reader
    }

    /// How many of LMDB's reader slots this process holds.
    package var readerSlots: Int {
        let pid = getpid()
        return ((try? environment.readers()) ?? []).count { $0.pid == pid }
    }
}
