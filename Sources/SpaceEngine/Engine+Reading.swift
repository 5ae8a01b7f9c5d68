import Glibc
import LMDB
import SpaceSystem

/// Snapshots: each shows one whole commit, on a reader that is kept and renewed.
extension Engine {
    private static let renewals = 64
    private static let roundsOfRenewals = 32

    /// Lends a reader with the newest snapshot, until ``takeBack(_:)``.
    ///
    /// The caller copies what it reads before then, and soon, because a snapshot keeps freed pages from being reused.
    ///
    /// `showsNear` is whether the snapshot shows the tuples of the near end too. A caller that looks for tuples needs
    /// them; all other rows are in the tables.
    package func lendReader(
        showsNear: Bool = false,
        holdsGate: Bool = false,
        evenAfterLeaving: Bool = false,
        evenAfterDeletion: Bool = false
    ) throws(SpaceError) -> Reader {
        try checkUsable(evenAfterLeaving: evenAfterLeaving, evenAfterDeletion: evenAfterDeletion)
        let reader = try takeReader(holdsGate: holdsGate)
        reader.showsNear = showsNear && near != nil
        if showsNear, let near {
            try renewBoth(near, reader, holdsGate: holdsGate)
        } else {
            try renew(reader, holdsGate: holdsGate)
        }
        CrashPoint.reach(.snapshotTaken)
        return reader
    }

    /// Lends a reader with a snapshot whose tables have every tuple: the near end's are moved there first.
    ///
    /// The caller gives it back with ``takeBack(_:)``.
    package func lendSettledReader() throws(SpaceError) -> Reader {
        try checkUsable()
        return try underGate { () throws(SpaceError) in
            if nearState.mayHaveTuples {
                try commit(.removing) { (scope) throws(SpaceError) in scope.noteUpkeep() }
                announce()
            }
            return try lendReader(holdsGate: true)
        }
    }

    /// Ends the snapshot of a reader that was lent, and puts the reader back into the pool.
    package func takeBack(_ reader: Reader) {
        reader.transaction.reset()
        readers.put(reader)
    }

    package func snapshot(of reader: Reader) -> Snapshot {
        Snapshot(
            access: reader.transaction.access,
            tables: tables,
            clock: clock,
            near: reader.showsNear ? UnsafePointer(reader.near) : nil
        )
    }

    /// Throws if a page was cut off while it was read, because its bytes were read as zeros; called after all reads.
    package func checkUndamaged(_ reader: Reader) throws(SpaceError) {
        if reader.transaction.access.isDamaged { throw SpaceError(LMDBError.damagedPage) }
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
        try checkUndamaged(reader)
    }

    /// Takes the newest snapshot on a reader that was reset; if that fails, the reader goes back to the pool, or is
    /// dropped.
    ///
    /// A reader may be preempted between LMDB's look at the last id and its own entry in the table; then it can see
    /// later pages than its id says. So the id must be the last one, or the reader starts over. That ends after a round
    /// or two, with one exception: a writer was killed or stopped between the meta page, which has the last id, and the
    /// word from which readers take theirs. Then the gate recovers what a killed writer left, or names a stopped one.
    /// If that changes nothing, the meta pages or the lock file are damaged.
    func renew(_ reader: Reader, holdsGate: Bool) throws(SpaceError) {
        for _ in 0..<Self.roundsOfRenewals {
            for _ in 0..<Self.renewals {
                do throws(LMDBError) {
                    if try reader.transaction.renew() { return }
                } catch {
                    // The next read that took this reader would fail too.
                    readers.drop(reader)
                    throw SpaceError(error)
                }
                reader.transaction.reset()
            }
            do throws(SpaceError) {
                if holdsGate { try recover() } else { try underGate {} }
            } catch {
                readers.put(reader)
                throw error
            }
        }
        readers.put(reader)
        environment.markDamaged()
        throw .damaged("the meta pages and the lock file name different commits")
    }

    @inline(__always)
    private func takeReader(holdsGate: Bool) throws(SpaceError) -> Reader {
        if let idle = readers.take() { return idle }
        return try oneMoreReader(holdsGate: holdsGate)
    }

    /// Gets a reader when none is idle; a separate function, so that the common path of reads stays short.
    @inline(never)
    private func oneMoreReader(holdsGate: Bool) throws(SpaceError) -> Reader {
        // A thread with a reader may wait for the gate, so the gate's holder must not wait for a reader.
        if let reader = try readers.takeOrReserve(mayWait: !holdsGate) { return reader }
        do throws(SpaceError) {
            if holdsGate { return try newReader() }
            return try underGate { () throws(SpaceError) in try newReader() }
        } catch {
            readers.drop()
            throw error
        }
    }

    /// Makes a reader with a new slot; called under the gate, because LMDB waits for its reader mutex without bound.
    private func newReader() throws(SpaceError) -> Reader {
        do throws(LMDBError) {
            do throws(LMDBError) {
                return try beginReader()
            } catch .readersFull {
                // mdb_txn_begin returns this error without clearing the slots of dead readers.
                try environment.forgetDeadReaders()
                return try beginReader()
            }
        } catch {
            throw SpaceError(error)
        }
    }

    /// Makes a reader that has to be renewed, like those in the pool.
    private func beginReader() throws(LMDBError) -> Reader {
        let reader = Reader(try environment.beginRead())
        reader.transaction.reset()
        return reader
    }

    /// How many of LMDB's reader slots this process holds.
    package var readerSlots: Int {
        let pid = getpid()
        let all = try? withEnvironment { (environment) throws(LMDBError) in try environment.readers() }
        return (all ?? []).count { $0.pid == pid }
    }
}
