import LMDB
import SpaceSystem

/// The gate: one lock under which a namespace's processes write, one after the other.
extension Engine {
    /// How long upkeep waits for the gate: it delays other operations, and what it leaves undone is found at the next
    /// tick.
    package static let upkeepPatience = Duration.milliseconds(10)

    /// Runs `body` under the gate; once the gate is released, wakes the waiters that were found.
    ///
    /// - `timeout`: How long to wait for the gate, or `nil` for the space's time-out.
    /// - `evenAfterLeaving`: Whether the call works after this process has left, so that a waiter can still hand its
    ///   grant on.
    @inline(__always)
    package func underGate<R>(
        timeout: Duration? = nil,
        evenAfterLeaving: Bool = false,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        // A process that has left may close the environment, except while this is counted.
        if evenAfterLeaving, !readers.beginUse() { throw .leftNamespace }
        defer { if evenAfterLeaving { readers.endUse() } }
        let isAbandoned: Bool
        // An error of the first attempt comes again with the second, which names it.
        if let abandoned = try? gate.tryAcquire() {
            isAbandoned = abandoned
        } else {
            isAbandoned = try waitForGate(timeout)
        }
        if isAbandoned { control.gateNeedsRecovery.store(1) }
        do throws(SpaceError) {
            CrashPoint.reach(.gateTaken)
            try checkUsable(evenAfterLeaving: evenAfterLeaving)
            if control.gateNeedsRecovery.load() != 0 { try recover() }
            let result = try body()
            releaseGate()
            return result
        } catch {
            releaseGate()
            throw error
        }
    }

    /// How long a clean-up step waits for the gate.
    ///
    /// If a wait of this process has timed out because a stopped process holds the gate, and that process has held it since,
    /// a clean-up step waits only briefly, and so it does if the daemon of a shared namespace does not answer. If the step
    /// then fails, the end of this process releases what it would have.
    package func cleanUpPatience(_ timeout: Duration) -> Duration {
        control.gate.isKnownToBeStopped || daemonContact.isSilent ? min(timeout, .milliseconds(100)) : timeout
    }

    /// Waits for the gate, and returns whether its last holder was killed.
    @inline(never)
    private func waitForGate(_ timeout: Duration?) throws(SpaceError) -> Bool {
        do throws(ProcessLock.Failure) {
            return try control.gate.acquire(timeout: timeout ?? self.timeout) { openControl() }
        } catch {
            throw SpaceError(error)
        }
    }

    @inline(__always)
    private func releaseGate() {
        // The list is taken along and not read again, because after the release it belongs to the gate's next holder.
        let wakes = wakes.isEmpty ? nil : wakes.takeAlong()
        gate.release()
        CrashPoint.reach(.gateReleased)
        if let wakes { wakes.carryOut(slots, root.wakeupFile) }
        CrashPoint.reach(.woken)
    }

    /// Hands a tuple that was granted and not taken to a younger waiter, if the tuple is still visible.
    ///
    /// If the gate can't be taken soon, all waiters are woken instead, which needs no gate. Merely giving up would
    /// leave a waiter asleep beside its tuple although no process was killed.
    package func offer(_ id: UInt64, youngerThan ticket: UInt64) {
        do throws(SpaceError) {
            try underGate(timeout: Self.upkeepPatience, evenAfterLeaving: true) { () throws(SpaceError) in
                try readUnderGate(showsNear: true, evenAfterLeaving: true) { (snapshot) throws(SpaceError) in
                    guard let row = try snapshot.tupleRow(id) else { return }
                    var appearance = Appearance(row.encoded)
                    slots.grant(id, &appearance, youngerThan: ticket, wakingReaders: false, into: wakes)
                }
            }
        } catch {
            // Not `wakes`, which belongs to the holder of the gate.
            let others = WakeList()
            slots.wakeEverybody(into: others)
            others.takeAlong().carryOut(slots, root.wakeupFile)
        }
    }

    /// Wakes all waiters of the namespace; called under the gate.
    package func wakeEverybody() { slots.wakeEverybody(into: wakes) }

    /// Repairs what a killed holder of the gate may have left.
    ///
    /// That can be a commit that no reader sees, a sequence that was not announced, or grants that were not made. An
    /// empty write transaction makes LMDB look at its meta pages. (A writer killed between the meta page and
    /// `mti_txnid` has committed, but no reader sees the commit before the next write transaction begins.)
    func recover() throws(SpaceError) {
        try mend()
        if let near {
            // Also if no writer is said to wait: the killed holder may have been about to wake it.
            near.raisePlaceNow()
            wakes.addPlace(near.placeFutex)
        }
        diskReserve.noteUnknownReserve()
        wakeEverybody()
        // The killed holder may have committed without signalling.
        signalChange()
        control.gateNeedsRecovery.store(0)
    }

    /// Lets the words of a new namespace agree with its database, before any other process can see it.
    ///
    /// If the first writer did this instead, that writer would wake all waiters, as each recovery does, and of two
    /// takers the younger could get the first tuple. A recovery can't leave the wake out by asking whether something
    /// was ever changed: the changes of locks and other objects don't raise the sequence, and a process may be killed
    /// between the first of them and its wake-ups. Here there can't be a waiter.
    package func settleNew() throws(SpaceError) {
        guard control.gateNeedsRecovery.load() != 0 else { return }
        try mend()
        control.gateNeedsRecovery.store(0)
    }

    /// Makes the last commit visible, and lets the words beside the database agree with it.
    private func mend() throws(SpaceError) {
        use.abandonOrphans()
        let transaction = try beginWrite()
        let snapshot = Snapshot(access: transaction.access, tables: tables, clock: clock)
        if let counters = try snapshot.mainCounters.getValid(.counters) {
            if let near {
                control.sequence.store(max(control.sequence.load(), counters.sequence, near.lastChange))
                near.recover(
                    next: counters.nextTuple,
                    nextNumber: counters.nextNumber,
                    // If that is damaged, each operation goes through LMDB, and says so.
                    due: (try? snapshot.earliestDue(counters)) ?? 1,
                    isOff: counters.keepsNearEndOff
                )
            } else {
                control.sequence.store(counters.sequence)
            }
        }
        transaction.abort()
    }

    /// Takes over the gate if it is abandoned; waiters and openers check for that.
    package func lookForAbandonedGate() {
        guard readers.beginUse() else { return }
        defer { readers.endUse() }
        do throws(ProcessLock.Failure) {
            guard let abandoned = try control.gate.tryAcquire() else { return }
            if abandoned { control.gateNeedsRecovery.store(1) }
        } catch {
            return
        }
        if control.gateNeedsRecovery.load() != 0 { try? recover() }
        releaseGate()
    }
}
