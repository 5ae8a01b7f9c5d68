import LMDB
import SpaceSystem

/// The repair of what a killed holder of the gate left.
package struct GateRecovery {
    private let engine: Engine

    package init(_ engine: Engine) { self.engine = engine }

    /// Repairs what a killed holder of the gate may have left.
    ///
    /// That can be a commit that no reader sees, a sequence that was not announced, or grants that were not made. An
    /// empty write transaction makes LMDB look at its meta pages. (A writer killed between the meta page and
    /// `mti_txnid` has committed, but no reader sees the commit before the next write transaction begins.)
    func recover() throws(SpaceError) {
        try mend()
        if let near = engine.near {
            // This is done even if no writer is noted as waiting: the killed holder may have been about to wake one.
            near.raisePlaceNow()
            engine.wakes.addPlace(near.placeFutex)
        }
        engine.diskReserve.noteUnknownReserve()
        engine.slots.wakeEverybody(into: engine.wakes)
        // The killed holder may have committed without signalling.
        engine.signalChange()
        engine.control.gateNeedsRecovery.store(0)
    }

    /// Makes the words of a new namespace agree with its database, before any other process can see the namespace.
    ///
    /// If the first writer did this instead, that writer would wake all waiters, as each recovery does, and of two
    /// takers the younger could get the first tuple. A recovery can't skip the wake by asking whether something was
    /// ever changed: the changes of locks and other objects don't raise the sequence, and a process may be killed
    /// between the first of them and its wake-ups. Here there can't be a waiter.
    package func makeNewUsable() throws(SpaceError) {
        guard engine.control.gateNeedsRecovery.load() != 0 else { return }
        try mend()
        engine.control.gateNeedsRecovery.store(0)
    }

    /// Makes the last commit visible, and makes the words beside the database agree with it.
    private func mend() throws(SpaceError) {
        engine.use.abandonOrphans()
        let transaction = try engine.beginWrite()
        let snapshot = Snapshot(access: transaction.access, tables: engine.tables, clock: engine.clock)
        if let counters = try snapshot.mainCounters.getValid(.counters) {
            if let near = engine.near {
                engine.control.sequence.store(max(engine.control.sequence.load(), counters.sequence, near.lastChange))
                near.recover(
                    next: counters.nextTuple,
                    nextNumber: counters.nextNumber,
                    applied: counters.appliedMarks,
                    // If that is damaged, each operation goes through LMDB, and says so.
                    due: (try? snapshot.earliestDue(counters)) ?? 1,
                    isOff: counters.keepsNearEndOff
                )
            } else {
                engine.control.sequence.store(counters.sequence)
            }
        }
        transaction.abort()
    }

    /// Takes over the gate if it is abandoned; waiters and openers check for that.
    package func lookForAbandonedGate() {
        guard engine.readers.beginUse() else { return }
        defer { engine.readers.endUse() }
        do throws(ProcessLock.Failure) {
            guard let abandoned = try engine.control.gate.tryAcquire() else { return }
            if abandoned { engine.control.gateNeedsRecovery.store(1) }
        } catch {
            return
        }
        if engine.control.gateNeedsRecovery.load() != 0 { try? recover() }
        engine.releaseGate()
    }
}
