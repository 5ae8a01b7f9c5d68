import LMDB
import SpaceSystem

/// The gate: one lock under which a namespace's processes write, one after the other.
extension Engine {
    /// How long upkeep waits for the gate: it is done in others' time, and what it leaves is found at the next tick.
    package static let upkeepPatience = Duration.milliseconds(10)

    /// Runs `body` under the gate, and afterwards, with the gate released, wakes whom it found to wake.
    ///
    /// - `timeout`: `nil`: the space's.
    /// - `evenAfterLeaving`: For what a waiter still owes to others when its process has left.
    package func underGate<R>(
        _ operation: String,
        timeout: Duration? = nil,
        evenAfterLeaving: Bool = false,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        do throws(ProcessLock.Failure) {
            let isAbandoned = try control.gate.acquire(timeout: timeout ?? self.timeout) { openControl() }
            if isAbandoned { control.gateNeedsRecovery.store(1) }
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
        do throws(SpaceError) {
            CrashPoint.reach(.gateTaken)
            try checkUsable(operation, evenAfterLeaving: evenAfterLeaving)
            if control.gateNeedsRecovery.load() != 0 { try recover(operation) }
            let result = try body()
            releaseGate()
            return result
        } catch {
            releaseGate()
            throw error
        }
    }

    private func releaseGate() {
        // Taken along, and not read again: behind the gate the list is the next holder's.
        let wakes = wakes.isEmpty ? nil : wakes.takeAlong()
        control.gate.release()
        CrashPoint.reach(.gateReleased)
        if let wakes { wakes.carryOut(slots, root.wakeupFile) }
        CrashPoint.reach(.woken)
    }

    /// Hands a tuple that was granted and not taken on to a younger waiter, if it is still visible.
    ///
    /// Where the gate is not had soon, everybody who waits is woken instead, which needs no gate: a hand-over that was merely
    /// given up would leave a waiter asleep beside its tuple, with nobody killed.
    package func offer(_ id: UInt64, youngerThan ticket: UInt64) {
        let operation = "hand a tuple on"
        do throws(SpaceError) {
            try underGate(operation, timeout: Self.upkeepPatience, evenAfterLeaving: true) { () throws(SpaceError) in
                try readUnderGate(operation, evenAfterLeaving: true) { (snapshot) throws(SpaceError) in
                    guard let row = try snapshot.tupleRow(id) else { return }
                    var appearance = Appearance(row.encoded)
                    slots.grant(id, &appearance, youngerThan: ticket, wakingReaders: false, into: wakes)
                }
            }
        } catch {
            // Not `wakes`, which is the gate's holder's.
            let others = WakeList()
            slots.wakeEverybody(into: others)
            others.takeAlong().carryOut(slots, root.wakeupFile)
        }
    }

    /// Wakes everybody who waits here.
    ///
    /// Under the gate.
    package func wakeEverybody() { slots.wakeEverybody(into: wakes) }

    /// What a holder of the gate who was killed may have left: a commit that no reader sees, a sequence that was not
    /// announced, grants that were not made.
    ///
    /// An empty write transaction makes LMDB look at its meta pages (a writer killed between the meta page and
    /// `mti_txnid` has committed, but nobody sees it before the next one begins).
    func recover(_ operation: String) throws(SpaceError) {
        use.abandonOrphans()
        do throws(LMDBError) {
            let transaction = try environment.beginWrite()
            let row = try transaction.access.get(tables.main, Counters.keyBytes)
            if let counters = row.flatMap(Counters.init) { control.sequence.store(counters.sequence) }
            transaction.abort()
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
        wakeEverybody()
        // Who was killed may have committed and not rung.
        signalChange()
        control.gateNeedsRecovery.store(0)
    }

    /// Takes over an abandoned gate, if it is one: waiters and openers look for it.
    package func lookForAbandonedGate() {
        do throws(ProcessLock.Failure) {
            guard let abandoned = try control.gate.tryAcquire() else { return }
            if abandoned { control.gateNeedsRecovery.store(1) }
        } catch {
            return
        }
        if control.gateNeedsRecovery.load() != 0 { try? recover("recover the gate") }
        releaseGate()
    }
}
