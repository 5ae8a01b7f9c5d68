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
        // A process that has left may close the environment, except while this use is counted.
        if evenAfterLeaving, !readers.beginUse() { throw .leftNamespace }
        defer { if evenAfterLeaving { readers.endUse() } }
        let isAbandoned: Bool
        // If the first attempt fails, the second fails in the same way, and its error is named.
        if let abandoned = try? gate.tryAcquire() {
            isAbandoned = abandoned
        } else {
            isAbandoned = try waitForGate(timeout)
        }
        if isAbandoned { control.gateNeedsRecovery.store(1) }
        do throws(SpaceError) {
            CrashPoint.reach(.gateTaken)
            try checkUsable(evenAfterLeaving: evenAfterLeaving)
            if control.gateNeedsRecovery.load() != 0 { try GateRecovery(self).recover() }
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
    /// If a wait of this process has timed out because a stopped process holds the gate, and that process has held it
    /// since, a clean-up step waits only briefly. It also waits only briefly if the way to the log of several machines
    /// does not answer. If the step then fails, the end of this process releases what the step would have released.
    package func cleanUpPatience(_ timeout: Duration) -> Duration {
        control.gate.isKnownToBeStopped || logSource.isSilent ? min(timeout, .milliseconds(100)) : timeout
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
    func releaseGate() {
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

    /// Runs `body`, which uses the environment without the gate and without a reader.
    ///
    /// - Throws: `closed` if the environment is closed; what `body` throws.
    func withEnvironment<R>(_ body: (Environment) throws(LMDBError) -> R) throws(SpaceError) -> R {
        guard readers.beginUse() else { throw .leftNamespace }
        defer { readers.endUse() }
        return try lmdb { () throws(LMDBError) in try body(environment) }
    }
}
