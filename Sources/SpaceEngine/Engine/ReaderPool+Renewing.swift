import Glibc
import LMDB
import SpaceSystem

/// Making readers, and renewing their snapshots: each shows one whole commit, on a reader that is kept.
extension ReaderPool {
    private static let renewals = 64
    private static let roundsOfRenewals = 32

    /// Ends the snapshot of a reader, and puts the reader back.
    @inline(__always)
    func takeBack(_ reader: Reader) {
        reader.transaction.reset()
        put(reader)
    }

    /// Takes the newest snapshot on a reader that was reset; if that fails, the reader goes back to the pool, or is
    /// dropped.
    ///
    /// A reader may be preempted between LMDB's look at the last id and its own entry in the table; then it can see
    /// later pages than its id says. So the id must be the last one, or the reader starts over. That ends after a round
    /// or two, with one exception: a writer was killed or stopped between the meta page, which has the last id, and the
    /// word from which readers take theirs. Then the gate recovers what a killed writer left, or names a stopped one.
    /// If that changes nothing, the meta pages or the lock file are damaged.
    @inline(__always)
    func renew(_ reader: Reader, on engine: Engine, holdsGate: Bool) throws(SpaceError) {
        if try !renewOnce(reader) { try renewAgain(reader, on: engine, holdsGate: holdsGate) }
    }

    /// Takes a snapshot; `false`: perhaps it is not the newest one, and was given up.
    @inline(__always)
    private func renewOnce(_ reader: Reader) throws(SpaceError) -> Bool {
        do throws(LMDBError) {
            if try reader.transaction.renew() { return true }
        } catch {
            // The next read that took this reader would fail too.
            drop(reader)
            throw SpaceError(error)
        }
        reader.transaction.reset()
        return false
    }

    /// Goes on after a first attempt; a separate function, so that the common path of reads stays short.
    @inline(never)
    private func renewAgain(_ reader: Reader, on engine: Engine, holdsGate: Bool) throws(SpaceError) {
        for _ in 0..<Self.roundsOfRenewals {
            for _ in 0..<Self.renewals { if try renewOnce(reader) { return } }
            do throws(SpaceError) {
                if holdsGate { try GateRecovery(engine).recover() } else { try engine.underGate {} }
            } catch {
                put(reader)
                throw error
            }
        }
        put(reader)
        engine.environment.markDamaged()
        throw .damaged("the meta pages and the lock file name different commits")
    }

    /// Takes a reader that has to be renewed: an idle one, or one more.
    @inline(__always)
    func take(on engine: Engine, holdsGate: Bool) throws(SpaceError) -> Reader {
        if let idle = take() { return idle }
        return try takeOrMake(on: engine, holdsGate: holdsGate)
    }

    /// Gets a reader when none is idle; a separate function, so that the common path of reads stays short.
    @inline(never)
    private func takeOrMake(on engine: Engine, holdsGate: Bool) throws(SpaceError) -> Reader {
        // A thread with a reader may wait for the gate, so the gate's holder must not wait for a reader.
        if let reader = try takeOrReserve(mayWait: !holdsGate) { return reader }
        do throws(SpaceError) {
            if holdsGate { return try newReader(in: engine.environment) }
            return try engine.underGate { () throws(SpaceError) in try newReader(in: engine.environment) }
        } catch {
            drop()
            throw error
        }
    }

    /// Makes a reader with a new slot; called under the gate, because LMDB waits for its reader mutex without bound.
    private func newReader(in environment: Environment) throws(SpaceError) -> Reader {
        do throws(LMDBError) {
            do throws(LMDBError) {
                return try beginReader(in: environment)
            } catch .readersFull {
                // mdb_txn_begin returns this error without clearing the slots of dead readers.
                try environment.forgetDeadReaders()
                return try beginReader(in: environment)
            }
        } catch {
            throw SpaceError(error)
        }
    }

    /// Makes a reader that has to be renewed, like those in the pool.
    private func beginReader(in environment: Environment) throws(LMDBError) -> Reader {
        let reader = Reader(try environment.beginRead())
        reader.transaction.reset()
        return reader
    }

    // MARK: The near end

    /// Renews a reader's snapshot, and copies the near end, or its marks alone, beside it, so that both show one moment.
    ///
    /// If it throws, the reader is back in the pool, or dropped.
    ///
    /// The word may be odd, because a writer is in the middle of a change, or is stopped there. Each of a change's
    /// stores leaves a state that may be seen. So two equal words are enough: at most one change has moved between them.
    @inline(__always)
    func renew(
        _ reader: Reader,
        beside near: NearRing,
        showsRing: Bool,
        on engine: Engine,
        holdsGate: Bool
    ) throws(SpaceError) {
        if try !renewAndCopy(near, showsRing, reader, on: engine, holdsGate: holdsGate) {
            try renewAgain(near, showsRing, reader, on: engine, holdsGate: holdsGate)
        }
    }

    /// Makes one attempt; if the result is `false`, the reader has a snapshot.
    @inline(__always)
    private func renewAndCopy(
        _ near: NearRing,
        _ showsRing: Bool,
        _ reader: Reader,
        on engine: Engine,
        holdsGate: Bool
    ) throws(SpaceError) -> Bool {
        let word = near.word.load()
        try renew(reader, on: engine, holdsGate: holdsGate)
        do throws(SpaceError) {
            let isStill = try reader.near.pointee.copy(near, since: word, showsRing: showsRing) {
                () throws(SpaceError) in
                // A commit may have taken records over that are still here.
                let snapshot = Snapshot(access: reader.transaction.access, tables: engine.tables, clock: engine.clock)
                return try snapshot.nearBounds()
            }
            // The zeros of a file that was cut look like a ring without tuples.
            if engine.control.isCut { try engine.checkUsable() }
            return isStill
        } catch {
            takeBack(reader)
            throw error
        }
    }

    @inline(never)
    private func renewAgain(
        _ near: NearRing,
        _ showsRing: Bool,
        _ reader: Reader,
        on engine: Engine,
        holdsGate: Bool
    ) throws(SpaceError) {
        for _ in 0..<Engine.looks {
            reader.transaction.reset()
            if try renewAndCopy(near, showsRing, reader, on: engine, holdsGate: holdsGate) { return }
        }
        reader.transaction.reset()
        var isDone = false
        var isLent = true
        do throws(SpaceError) {
            // Writers are too quick.
            let look = { () throws(SpaceError) in
                isLent = false
                isDone = try self.renewAndCopy(near, showsRing, reader, on: engine, holdsGate: true)
            }
            if holdsGate { try look() } else { try engine.underGate(look) }
        } catch {
            if isLent { put(reader) }
            throw error
        }
        if isDone { return }
        takeBack(reader)
        throw .damaged(NearRing.nonsense)
    }

    /// How many of LMDB's reader slots this process holds.
    package func slots(of engine: Engine) -> Int {
        let pid = getpid()
        let all = try? engine.withEnvironment { (environment) throws(LMDBError) in try environment.readers() }
        return (all ?? []).count { $0.pid == pid }
    }
}
