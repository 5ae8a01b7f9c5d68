import Glibc
package import LMDB
import SpaceSystem
import TupleCoding

/// A write transaction in progress: what writing operations are written against.
///
/// It keeps the counters, knows the shapes that are indexed, and remembers what became visible, so that the commit can wake
/// who waits for it. One object per process and namespace is used again and again: only the holder
/// of the gate touches it.
package final class WriteScope {
    package let tables: Tables
    package let clock: NamespaceClock
    package let namespace: String
    /// How large the data file may grow: what the journal keeps is a part of that.
    package let byteLimit: UInt64

    private let names: SnapshotNames
    // Not checked at run time for overlapping accesses, which cost each write a thousand instructions: within this module the
    // compiler would prove that there are none, but of a property that other modules see it can't. No access to one of these
    // spans a call that comes to another.
    @exclusivity(unchecked) package private(set) var snapshot: Snapshot
    @exclusivity(unchecked) package var counters = Counters()
    @exclusivity(unchecked) package var shapes: ShapeTable = .empty
    /// The transaction that is, or was last, in progress.
    private var transaction = 0
    /// The last commit, if it is of this process and nothing was undone since: `counters` and `shapes` are as it left them.
    private var committed: Int?
    /// Whether anything was changed; a transaction without changes is not committed.
    private(set) var hasChanges = false
    /// Whether anything was removed or returned because its time had come.
    @exclusivity(unchecked) package private(set) var hasRemovedDue = false
    /// What became visible, for those who wait.
    package let appeared = CommittedChanges()
    /// While a transaction's body runs: its changes, not yet numbered.
    var net: NetChanges?
    /// What room was made for before the body.
    @exclusivity(unchecked) package var demand = DiskReserve.Demand.none
    /// This process, and the time of the transaction, for the journal.
    package let process: Int32 = getpid()
    private var journalTime: Int64 = 0
    private var sequenceAtBegin: UInt64 = 0

    package init(tables: Tables, clock: NamespaceClock, namespace: String, byteLimit: UInt64, idle access: Access) {
        self.tables = tables
        self.clock = clock
        self.namespace = namespace
        self.byteLimit = byteLimit
        names = SnapshotNames(namespace: namespace)
        snapshot = Snapshot(access: access, tables: tables, clock: clock, names: names)
    }

    package var access: Access { snapshot.access }
    package var operation: String { snapshot.operation }

    /// Begins with what the last commit left.
    ///
    /// A transaction's id is one above the last commit's, whoever's that was (mdb.c, mdb_txn_renew0): if that was ours, there
    /// is nothing to be read that isn't known.
    package func begin(_ access: Access, operation: String, isAwaited: Bool, _ cache: ShapeCache) throws(SpaceError) {
        names.begin(operation)
        snapshot = Snapshot(access: access, tables: tables, clock: clock, names: names)
        hasChanges = false
        hasRemovedDue = false
        appeared.begin(isAwaited: isAwaited)
        journalTime = 0
        net = nil
        transaction = access.id
        let isKnown = committed == transaction - 1
        committed = nil
        if !isKnown {
            counters = try snapshot.counters()
            shapes = try cache.table(of: snapshot, generation: counters.shapesGeneration)
        }
        sequenceAtBegin = counters.sequence
    }

    /// Whether everything is as a snapshot of that commit shows it.
    package func isUnchanged(since commit: Int) -> Bool { transaction - 1 == commit && !hasChanges }

    /// Notes that the commit succeeded.
    func noteCommitted(_ cache: ShapeCache) {
        committed = transaction
        cache.confirm(generation: counters.shapesGeneration, at: transaction)
    }

    /// When the transaction took place, milliseconds since 1970: one time for all of its changes.
    package var time: Int64 {
        if journalTime == 0 { journalTime = Clock.realtimeMilliseconds() }
        return journalTime
    }

    /// The sequence rises with every change.
    func noteChange() {
        counters.sequence += 1
        hasChanges = true
    }

    /// Whether there is something for watchers to read.
    package var hasNews: Bool { counters.watchers != 0 && counters.sequence != sequenceAtBegin }

    /// Once in 4,096 changes.
    var passesMark: Bool { counters.sequence / 4096 != sequenceAtBegin / 4096 }

    /// Notes upkeep that is no change in anybody's eyes: indexes, flags.
    package func noteUpkeep() { hasChanges = true }

    /// Notes that something's time had come, and it was removed or returned.
    func noteRemovedDue() {
        hasRemovedDue = true
        noteUpkeep()
    }

    package func noteSet(cell key: String) { appeared.add(Interest(cell: key)) }

    package func noteMoved(hold ticket: UInt64) { appeared.add(Interest(hold: ticket)) }

    package func noteMoved(object name: String) { appeared.add(Interest(object: name)) }

    /// Writes the counters back; the last step before the commit.
    package func finish() throws(SpaceError) {
        let row = try lmdb { () throws(LMDBError) in
            try access.reserve(tables.main, Counters.keyBytes, size: Counters.size)
        }
        counters.write(to: row)
    }

    @inline(__always)
    package func lmdb<R: ~Copyable>(_ body: () throws(LMDBError) -> R) throws(SpaceError) -> R {
        try snapshot.lmdb(body)
    }
}
