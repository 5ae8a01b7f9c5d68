import Glibc
package import LMDB
import SpaceSystem

/// A write transaction in progress, on which writing operations work.
///
/// It keeps the counters, knows the indexed shapes, and remembers what became visible, so that the commit can wake the
/// waiters. Each process has one such object per namespace and reuses it: only the holder of the gate touches it.
package final class WriteScope: TransactionTables {
    package let tables: Tables
    package let clock: NamespaceClock
    package let namespace: String
    /// How large the data file may grow; the journal's share is a part of that.
    package let byteLimit: UInt64

    // These properties are not checked at run time for overlapping accesses, because the checks cost each write a
    // thousand instructions. For a property seen only in this module, the compiler would prove that accesses don't
    // overlap; for one that other modules see, it can't. No access to one of these properties lasts over a call that
    // accesses it again.
    @exclusivity(unchecked) package private(set) var snapshot: Snapshot
    @exclusivity(unchecked) package var counters = Counters()
    @exclusivity(unchecked) package var shapes: ShapeTable = .empty
    /// The transaction in progress, or the last one.
    private var transaction = 0
    /// The last commit, if this process made it and nothing was undone since; `counters` and `shapes` are then up to
    /// date.
    private var committed: Int?
    /// Whether anything was changed; a transaction without changes is not committed.
    private(set) var hasChanges = false
    /// Whether anything was removed or returned because it was due.
    @exclusivity(unchecked) package private(set) var hasRemovedDue = false
    /// What stays in the near end; with the ring, no id is free for another tuple.
    @exclusivity(unchecked) private(set) var keeps: NearKept = []
    /// Whether the transaction has applied marks.
    @exclusivity(unchecked) private(set) var appliesMarks = false
    /// What became visible to waiters.
    package let appeared = CommittedChanges()
    /// The changes of a transaction's body while it runs, not numbered yet.
    var net: NetChanges?
    /// The meter that makes sure of the disk space for each change.
    package let meter: RoomMeter
    /// The names that are to be settled before the commit.
    package let unsettled = UnsettledNames()
    /// The PID of the process that changes something, for the journal: this one's, unless a daemon executes what another
    /// one has sent.
    @exclusivity(unchecked) package private(set) var process: Int32 = getpid()
    /// What the transaction has beside its rows if it is logged.
    @exclusivity(unchecked) package var logged = LoggedTransaction()
    private var journalTime: Int64 = 0
    @exclusivity(unchecked) private var knownOrigin = Origin.unknown
    private var sequenceAtBegin: UInt64 = 0
    /// The earliest time at which something expires, if it is known; only the near end asks for it.
    var knownDue: Int64?

    init(
        tables: Tables,
        clock: NamespaceClock,
        namespace: String,
        byteLimit: UInt64,
        meter: RoomMeter,
        idle access: Access
    ) {
        self.meter = meter
        self.tables = tables
        self.clock = clock
        self.namespace = namespace
        self.byteLimit = byteLimit
        snapshot = Snapshot(access: access, tables: tables, clock: clock)
    }

    package var access: Access { snapshot.access }

    /// Begins a transaction with what the last commit left.
    ///
    /// A transaction's id is one above that of the last commit of any process (mdb.c, mdb_txn_renew0). If this process
    /// made that commit, everything is known and nothing needs to be read.
    func begin(
        _ access: Access,
        _ purpose: WritePurpose,
        isAwaited: Bool,
        _ cache: ShapeCache,
        _ near: NearRing?,
        keeps: NearKept
    ) throws(SpaceError) {
        snapshot = Snapshot(access: access, tables: tables, clock: clock)
        hasChanges = false
        hasRemovedDue = false
        appeared.begin(isAwaited: isAwaited)
        journalTime = 0
        knownOrigin = .unknown
        net = nil
        unsettled.clear()
        transaction = access.id
        let isKnown = committed == transaction - 1
        committed = nil
        if !isKnown {
            counters = try snapshot.counters()
            shapes = try cache.table(of: snapshot, generation: counters.shapesGeneration)
        }
        if let near {
            counters.sequence = max(counters.sequence, near.lastChange)
            counters.nextNumber = max(counters.nextNumber, near.nextClaimNumber)
            knownDue = near.earliestDue
        }
        sequenceAtBegin = counters.sequence
        meter.begin(
            purpose,
            shapes: shapes.indexed.count,
            hidden: counters.claimed + counters.withoutHolder,
            access,
            notesChanges: counters.logEntry != 0
        )
        self.keeps = keeps
        appliesMarks = false
        guard let near else { return }
        if !keeps.contains(.ring) { try takeOver(near) }
        guard near.marks.isSound else { throw .damaged(NearRing.nonsense) }
        if !keeps.contains(.marks), near.marks.count > 0 {
            try near.marks.apply(from: keeps.contains(.earlierMarks) ? near.marks.count - 1 : 0, in: self)
            appliesMarks = true
        }
    }

    /// Whether everything is as a snapshot of that commit shows it.
    ///
    /// A tuple that was in the near end then may be gone although there was no commit.
    package func isUnchanged(since commit: Int) -> Bool { transaction - 1 == commit && !hasChanges }

    /// Executes `body` as an operation that a process of this machine has sent.
    ///
    /// - Parameters:
    ///   - process: The process's PID.
    ///   - member: The member of its session.
    ///   - body: The operation.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    package func act<R>(
        for process: Int32,
        of member: UInt32,
        _ body: () throws(SpaceError) -> R
    ) throws(SpaceError) -> R {
        let own = (process: self.process, member: logged.member)
        (self.process, logged.member, knownOrigin) = (process, member, .unknown)
        defer { (self.process, logged.member, knownOrigin) = (own.process, own.member, .unknown) }
        return try body()
    }

    /// Sets whether the namespace stays without owners, on all machines, with this transaction.
    package func set(isPersistent: Bool) {
        logged.isPersistent = isPersistent
        noteUpkeep()
    }

    /// Notes that the commit succeeded.
    func noteCommitted(_ cache: ShapeCache) {
        committed = transaction
        cache.confirm(generation: counters.shapesGeneration, at: transaction)
    }

    /// The time of the transaction, in milliseconds since 1970: the same for all of its changes.
    package var time: Int64 {
        if journalTime == 0 { journalTime = Clock.realtimeMilliseconds() }
        return journalTime
    }

    /// The origin of the tuples that the transaction adds.
    var ownOrigin: Origin {
        if knownOrigin == .unknown { knownOrigin = .now(process) }
        return knownOrigin
    }

    /// Notes a change, which raises the sequence.
    func noteChange() {
        counters.sequence += 1
        hasChanges = true
    }

    /// The earliest time at which something expires, on the namespace's clock; 0 if nothing does.
    func earliestDue() throws(SpaceError) -> Int64 {
        if let knownDue, counters.expiring > 0 { return knownDue }
        return try snapshot.earliestDue(counters)
    }

    /// Whether watchers have something to read.
    package var hasNews: Bool { counters.watchers != 0 && counters.sequence != sequenceAtBegin }

    /// Whether the transaction has passed a multiple of the interval after which dead watchers are looked for.
    var isSweepDue: Bool { counters.sequence / SweepDue.interval != sequenceAtBegin / SweepDue.interval }

    /// Notes upkeep, such as of indexes or flags, that no watcher sees as a change.
    package func noteUpkeep() { hasChanges = true }

    /// Notes that something due was removed or returned.
    func noteRemovedDue() {
        hasRemovedDue = true
        noteUpkeep()
    }

    /// Notes that something changed for which a process may wait.
    package func note(_ interest: Interest) { appeared.add(interest) }

    /// Writes the counters back; the last step before the commit.
    package func finish() throws(SpaceError) {
        try mainCounters.put(.counters, counters)
    }

    @inline(__always)
    package func table<Key: TableKey, Row: TableRow>(_ database: Database) -> Table<Key, Row> {
        Table(access: access, database: database, meter: .passUnretained(meter))
    }
}
