import LMDB
import SpaceSystem
import Synchronization
import SystemPackage

/// A namespace as this process has it open: one environment, one control file, one session, whatever the number of handles.
///
/// Guarantees: every write runs under the gate, with room reserved, and wakes who waits for it; every read sees one whole
/// commit; nothing is done with a namespace that was deleted, left, or inherited over fork.
///
/// Unchecked Sendable: what is mutable is either atomic, behind a Mutex, or (`scope`, `room`, `wakes`) touched only by the
/// holder of the gate, which is a mutex between threads as well as between processes.
final class NamespaceCore: @unchecked Sendable {
    let name: NamespaceName
    let root: SpaceRoot
    let folder: FileInfo
    let control: ControlFile
    let environment: Environment
    /// Keeps the environment open, until the last reader has gone.
    private let use: EnvironmentUse
    let tables: Tables
    let clock: NamespaceClock
    let session: Session
    let timeout: Duration

    private static let renewals = 64
    private static let roundsOfRenewals = 32

    let readers = ReaderPool()
    let shapeCache = ShapeCache()
    let owners = ObjectOwners()
    let observations = ObservationHub()
    let responders = ResponderHub()
    private let forkGeneration = ForkGuard.generation
    private let hasLeft = Atomic<Bool>(false)
    /// When this process last looked after the namespace, monotonic ns.
    let lastTick = Atomic<UInt64>(0)
    let shapeUsage = ShapeUsage()
    /// How often a wait found its tuple at a tick, unheard: a hint was lost, which without kills must not happen.
    ///
    /// And how often a dead claimer's tuples returned at one.
    let lateFinds = Atomic<Int>(0)
    let spinHabit = Habit()
    let arrears = Arrears()
    /// The thread on which a transaction's body runs; 0: none does.
    let transactionThread = Atomic<UInt>(0)
    /// From when on a look that finds nothing asks again whether those who have claims live, monotonic ns.
    let nextAskForTheDead = Atomic<Int64>(0)
    /// Whether others know that this session claims.
    let isClaimant = Atomic<Bool>(false)

    private let scope: WriteScope
    private let room: Room
    private let wakes = WakeList()
    private let looksForDeadWatchers = Atomic<Bool>(false)
    private let bell = Bell()
    private let combiner = WriteCombiner()

    init(
        name: NamespaceName,
        root: SpaceRoot,
        folder: FileInfo,
        control: ControlFile,
        use: EnvironmentUse,
        tables: Tables,
        session: Session,
        idle access: Access,
        timeout: Duration
    ) {
        self.name = name
        self.root = root
        self.folder = folder
        self.control = control
        self.use = use
        environment = use.environment
        self.tables = tables
        self.session = session
        self.timeout = timeout
        clock = NamespaceClock(control.header)
        scope = WriteScope(
            tables: tables,
            clock: clock,
            namespace: name.text,
            byteLimit: control.header.byteLimit,
            idle: access
        )
        room = Room(environment: use.environment, control: control, tables: tables)
    }

    deinit {
        // Who reads holds the core, so no reader is out of the pool.
        guard !isInherited else { return }
        readers.removeAll()
        use.end()
    }

    var mode: StorageMode { control.header.mode }
    var slots: WaitSlots { control.slots }

    // MARK: Usable or not

    var isLeft: Bool { hasLeft.load(ordering: .acquiring) }

    /// Marks the namespace as left by this process.
    ///
    /// `false` if it was already.
    func markLeft() -> Bool { !hasLeft.exchange(true, ordering: .acquiringAndReleasing) }

    @inline(__always)
    func checkUsable(
        _ operation: String,
        evenAfterLeaving: Bool = false,
        evenAfterDeletion: Bool = false
    ) throws(SpaceError) {
        if isInherited || (!evenAfterDeletion && control.dead.load() != 0)
            || (!evenAfterLeaving && hasLeft.load(ordering: .acquiring)) || isInTransactionHere
        {
            throw unusable(operation)
        }
    }

    /// Whether this process is a child, made by fork, of the one that opened the namespace: nothing here is its own.
    var isInherited: Bool { ForkGuard.generation != forkGeneration }

    /// The folder has gone, or another stands in its place.
    func goneError(_ operation: String) -> SpaceError {
        noticeRemoval()
        return unusable(operation)
    }

    private func unusable(_ operation: String) -> SpaceError {
        if isInTransactionHere { return usedWithinTransaction(operation) }
        if isInherited {
            return SpaceError(
                .forked,
                operation,
                namespace: name.text,
                reason: "this handle was opened before fork, by another process",
                advice: LibraryUse.remedy
            )
        }
        if !hasLeft.load(ordering: .acquiring) {
            return SpaceError(
                .namespaceDeleted,
                operation,
                namespace: name.text,
                reason: "the namespace was deleted",
                advice: "open it again to start afresh"
            )
        }
        return SpaceError(
            .closed,
            operation,
            namespace: name.text,
            reason: "this process has left the namespace",
            advice: "open it again"
        )
    }

    /// Looks whether the namespace's folder was removed (logind does that in /dev/shm at logout): its control file has no name
    /// any more.
    ///
    /// The namespace is marked dead then, so that all its processes learn of it at once. A session's file that is missing says
    /// nothing about the namespace: clean-ups by age remove single files.
    func noticeRemoval() {
        if !control.isLinked { control.dead.store(1) }
    }

    // MARK: Reading

    /// Runs `body` on a snapshot.
    ///
    /// `body` must copy out what it returns, and is short: a snapshot keeps freed pages from being used again.
    func read<R>(
        _ operation: String,
        holdsGate: Bool = false,
        evenAfterLeaving: Bool = false,
        evenAfterDeletion: Bool = false,
        _ body: (Snapshot) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        try checkUsable(operation, evenAfterLeaving: evenAfterLeaving, evenAfterDeletion: evenAfterDeletion)
        let reader = try takeReader(operation, holdsGate: holdsGate)
        try renew(reader, operation, holdsGate: holdsGate)
        defer {
            reader.transaction.reset()
            readers.put(reader)
        }
        CrashPoint.reach(.snapshotTaken)
        reader.names.begin(operation)
        let access = reader.transaction.access
        let result = try body(Snapshot(access: access, tables: tables, clock: clock, names: reader.names))
        // A page that was cut off while it was read has read as zeros.
        if access.isDamaged { throw SpaceError(LMDBError.damagedPage, operation, namespace: name.text) }
        return result
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

    // MARK: Writing

    /// Runs `body` in a write transaction and commits it; undoes everything if it throws.
    ///
    /// `body` may run more than once (in `.durable`, when it shares a transaction with another that fails), so it has no
    /// effects but on the scope and its result.
    func write<R>(
        _ operation: String,
        _ demand: Room.Demand,
        timeout: Duration? = nil,
        _ body: (WriteScope) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        try checkUsable(operation)
        if arrears.isDue { carryOutArrears() }
        defer { if looksForDeadWatchers.load(ordering: .relaxed) { dropDeadWatchersAtLast() } }
        if mode == .durable, timeout == nil {
            return try combiner.run(operation, demand, on: self, body)
        }
        return try underGate(operation, timeout: timeout) { () throws(SpaceError) in
            let result = try commit(operation, demand, body)
            announce()
            return result
        }
    }

    private func dropDeadWatchersAtLast() {
        guard looksForDeadWatchers.exchange(false, ordering: .relaxed) else { return }
        dropWatchersOfTheDead(timeout: Self.upkeepPatience)
    }

    /// One transaction, under the gate.
    func commit<R>(
        _ operation: String,
        _ demand: Room.Demand,
        _ body: (WriteScope) throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let transaction: WriteTransaction
        do throws(LMDBError) {
            transaction = try environment.beginWrite()
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
        CrashPoint.reach(.begun)
        try scope.begin(
            transaction.access,
            operation: operation,
            isAwaited: slots.isAnybodyWaiting,
            shapeCache
        )
        do throws(SpaceError) {
            try removeWhatIsDue(besides: demand)
        } catch {
            throw error.within(operation, namespace: name.text)
        }
        let result = try body(scope)
        guard scope.hasChanges else { return result }
        try scope.finish()
        CrashPoint.reach(.beforeCommit)
        do throws(LMDBError) {
            try transaction.commit()
            CrashPoint.reach(.afterCommit)
        } catch {
            throw SpaceError(error, operation, namespace: name.text)
        }
        scope.noteCommitted(shapeCache)
        return result
    }

    /// Sees that there is room for a demand, and removes and returns what is due, as far as there is room for that too.
    ///
    /// The tuple of a claim takes its bytes anew where it returns. Where those are not to be had, it stays claimed for now:
    /// else nothing could be taken any more that would make the room.
    private func removeWhatIsDue(besides demand: Room.Demand) throws(SpaceError) {
        let all = scope.counters.expiring == 0 ? [] : try scope.snapshot.due(limit: 64)
        if !all.isEmpty {
            // All, or without large claims, or one by one.
            for (most, bytes) in [(all.count, Int.max), (all.count, environment.pageSize), (1, environment.pageSize)] {
                let due = try scope.due(all, most, claimsUpTo: bytes)
                guard !due.isEmpty else { break }
                scope.demand = demand + .removing(due.count, bytes: try scope.returningBytes(due))
                do throws(SpaceError) {
                    try ensureRoom(scope.demand)
                } catch {
                    if error.code == .limitReached || error.code == .storageFull { continue }
                    throw error
                }
                return try scope.remove(due: due)
            }
        }
        scope.demand = demand
        try ensureRoom(demand)
    }

    /// Sees that the blocks for all that a transaction does are there, from its beginning on; under the gate.
    ///
    /// Asked again with more, before that is done, while the transaction goes on.
    func ensureRoom(_ demand: Room.Demand) throws(SpaceError) {
        let shapes = scope.shapes.indexed.count
        if scope.isJournaling {
            try room.ensure(try demand.journaled(scope.snapshot), shapes: shapes, scope.access)
        } else {
            try room.ensure(demand, shapes: shapes, scope.access)
        }
    }

    /// After the commit, still under the gate: the sequence, and grants to those who wait.
    func announce() {
        guard scope.hasChanges else { return }
        control.sequence.store(scope.counters.sequence)
        if scope.hasNews {
            // A killed watcher must not be journaled for till the end of days, nor be looked for at every write.
            if scope.passesMark { looksForDeadWatchers.store(true, ordering: .relaxed) }
        }
        // The waiter's side: publish, fence, look. Ours: commit, fence, scan.
        SharedWord64.fence()
        if scope.hasNews { ringIfAwaited() }
        CrashPoint.reach(.rung)
        if slots.isAnybodyWaiting {
            grantAppeared()
            if scope.appeared.hasInterests {
                for interest in scope.appeared.interests { slots.announce(cell: interest, into: wakes) }
            }
        }
        CrashPoint.reach(.granted)
    }

    /// Rings the bell, if somebody waits for it.
    ///
    /// A burst of writes so rings once for each time that its watchers have read all. Under the gate: a writer stopped
    /// between taking the word back and ringing would leave the others to believe that the bell had rung; here they wait
    /// for him, and learn who he is, and one who is killed here is noticed by the next, who rings.
    private func ringIfAwaited() {
        guard control.isBellAwaited.load() != 0, control.isBellAwaited.exchange(0) != 0 else { return }
        bell.ring(self)
    }

    /// Asks the next writer with news to ring.
    ///
    /// The listener's side: ask, fence, look. What is committed before the look is seen by it, and what comes after sees
    /// that the bell is awaited.
    func awaitBell() {
        control.isBellAwaited.storeSequential(1)
        SharedWord64.fence()
    }

    /// Grants what became visible.
    ///
    /// Under the gate nobody else writes, so the rows are as the commit left them; should they not be had, everybody is
    /// woken.
    private func grantAppeared() {
        guard scope.appeared.tupleCount > 0 else { return }
        let wasAtHand = scope.appeared.withOnlyTuple { id, tuple in
            var appearance = Appearance(tuple)
            slots.grant(id, &appearance, into: wakes)
        }
        if wasAtHand { return }
        do throws(SpaceError) {
            try read("grant", holdsGate: true) { (snapshot) throws(SpaceError) in
                try scope.appeared.forEachTuple { (id) throws(SpaceError) in
                    guard let row = try snapshot.tupleRow(id) else { return }
                    var appearance = Appearance(row.encoded)
                    slots.grant(id, &appearance, into: wakes)
                }
            }
        } catch {
            wakeEverybody()
        }
    }

    // MARK: The gate

    /// How long upkeep waits for the gate: it is done in others' time, and what it leaves is found at the next tick.
    static let upkeepPatience = Duration.milliseconds(10)

    /// Runs `body` under the gate, and afterwards, with the gate released, wakes whom it found to wake.
    ///
    /// - `timeout`: `nil`: the space's.
    /// - `evenAfterLeaving`: For what a waiter still owes to others when its process has left.
    func underGate<R>(
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
        if let wakes { wakes.carryOut(slots, root.doorbellFile) }
        CrashPoint.reach(.woken)
    }

    /// Hands a tuple that was granted and not taken on to a younger waiter, if it is still visible.
    ///
    /// Where the gate is not had soon, everybody who waits is woken instead, which needs no gate: a hand-over that was merely
    /// given up would leave a waiter asleep beside its tuple, with nobody killed.
    func offer(_ id: UInt64, youngerThan ticket: UInt64) {
        let operation = "hand a tuple on"
        do throws(SpaceError) {
            try underGate(operation, timeout: Self.upkeepPatience, evenAfterLeaving: true) { () throws(SpaceError) in
                try read(operation, holdsGate: true, evenAfterLeaving: true) { (snapshot) throws(SpaceError) in
                    guard let row = try snapshot.tupleRow(id) else { return }
                    var appearance = Appearance(row.encoded)
                    slots.grant(id, &appearance, youngerThan: ticket, wakingReaders: false, into: wakes)
                }
            }
        } catch {
            // Not `wakes`, which is the gate's holder's.
            let others = WakeList()
            slots.wakeEverybody(into: others)
            others.takeAlong().carryOut(slots, root.doorbellFile)
        }
    }

    /// Wakes everybody who waits here.
    ///
    /// Under the gate.
    func wakeEverybody() { slots.wakeEverybody(into: wakes) }

    /// What a holder of the gate who was killed may have left: a commit that no reader sees, a sequence that was not
    /// announced, grants that were not made.
    ///
    /// An empty write transaction makes LMDB look at its meta pages (a writer killed between the meta page and
    /// `mti_txnid` has committed, but nobody sees it before the next one begins).
    private func recover(_ operation: String) throws(SpaceError) {
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
        bell.ring(self)
        control.gateNeedsRecovery.store(0)
    }

    /// Takes over an abandoned gate, if it is one: waiters and openers look for it.
    func lookForAbandonedGate() {
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
