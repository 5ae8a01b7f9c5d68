import LMDB
import SpaceSystem
import TupleCoding

/// One consistent view of a namespace, inside a read or a write transaction: what reading operations are written against.
///
/// Plain words without a reference that is counted: it is copied wherever something is looked up.
struct Snapshot {
    let access: Access
    let tables: Tables
    /// The namespace's clock, by which tuples expire and claims end.
    let clock: NamespaceClock
    /// Unmanaged: whoever keeps the transaction keeps them too, and a snapshot is of no use without its transaction.
    private let names: Unmanaged<SnapshotNames>

    init(access: Access, tables: Tables, clock: NamespaceClock, names: SnapshotNames) {
        self.access = access
        self.tables = tables
        self.clock = clock
        self.names = Unmanaged.passUnretained(names)
    }

    var operation: String { names._withUnsafeGuaranteedRef { $0.operation } }
    var namespace: String { names._withUnsafeGuaranteedRef { $0.namespace } }

    /// Runs LMDB calls with their errors told as the operation's.
    @inline(__always)
    func lmdb<R: ~Copyable>(_ body: () throws(LMDBError) -> R) throws(SpaceError) -> R {
        do throws(LMDBError) { return try body() } catch { throw SpaceError(error, operation, namespace: namespace) }
    }

    func damaged(_ reason: String) -> SpaceError { .damaged(operation, namespace: namespace, reason) }

    func counters() throws(SpaceError) -> Counters {
        let row = try lmdb { () throws(LMDBError) in try access.get(tables.main, Counters.keyBytes) }
        guard let row, let counters = Counters(row) else { throw damaged("the row of counters is missing or damaged") }
        return counters
    }

    /// The tuple under an id; `nil` when it is not there, or has expired.
    func tupleRow(_ id: UInt64) throws(SpaceError) -> TupleRow? {
        let bytes = try lmdb { () throws(LMDBError) in
            try withKey(id) { (key) throws(LMDBError) in try access.get(tables.tuples, key) }
        }
        guard let bytes else { return nil }
        guard let row = TupleRow(bytes) else { throw damaged("tuple \(id) is too short") }
        return isVisible(row) ? row : nil
    }

    /// Whether a tuple has not expired.
    ///
    /// The clock is read only for tuples that can.
    @inline(__always)
    func isVisible(_ row: TupleRow) -> Bool { row.expiry == 0 || row.expiry > clock.milliseconds }

    func tuple(_ id: UInt64, _ row: TupleRow) throws(SpaceError) -> Tuple {
        do throws(TupleCodingError) { return try row.tuple() } catch { throw damaged("tuple \(id): \(error)") }
    }
}

/// What errors say of a snapshot: what is done with it, and in which namespace.
///
/// One for each transaction that is kept and used again and again.
final class SnapshotNames {
    fileprivate(set) var operation = ""
    let namespace: String

    init(namespace: String) { self.namespace = namespace }

    func begin(_ operation: String) { self.operation = operation }
}

extension Counters {
    static var keyBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    }
}

/// The clock of a namespace's expiries and deadlines.
///
/// Guarantees: it runs with the time since boot (`CLOCK_BOOTTIME`, suspended time included), which nobody sets, so that setting the
/// machine's clock ends nothing before its time. Whoever creates or adopts the namespace says how far it is ahead of that: after a
/// reboot, or in another time namespace, it goes on by the real time that has passed.
struct NamespaceClock: Sendable {
    /// What it is ahead of the time since boot, in milliseconds (`ControlHeader.clockOffset`).
    let offset: Int64

    init(_ header: ControlHeader) { offset = header.clockOffset }

    /// A clock that is so many milliseconds ahead of the time since boot.
    init(offset: Int64) { self.offset = offset }

    /// The clock of a namespace that was made current elsewhere, as who adopts it here would set it.
    init(_ header: ControlHeader, seenFrom host: HostIdentity) {
        var header = header
        if !header.countsTime(as: host) { header.setClock() }
        self.init(header)
    }

    /// The real time of the boot: now, less the time since boot.
    static var realtimeAtBoot: Int64 { Clock.realtimeMilliseconds() &- Clock.boottimeMilliseconds() }

    /// Milliseconds since the boot in which the namespace was created, or since 1970 in `.durable`.
    var milliseconds: Int64 { Clock.boottimeMilliseconds() &+ offset }

    /// A time of this clock as milliseconds since 1970, for people.
    func realtime(_ milliseconds: Int64) -> Int64 {
        // What stands in a damaged file may be any number.
        milliseconds &- self.milliseconds &+ Clock.realtimeMilliseconds()
    }

    /// A time since 1970 on this clock.
    func time(ofRealtime milliseconds: Int64) -> Int64 {
        milliseconds &- Clock.realtimeMilliseconds() &+ self.milliseconds
    }

    /// The time after a duration, in milliseconds, rounded up; at most a few hundred million years ahead.
    func time(after duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        let span = Int64(clamping: seconds.multipliedFullWidth(by: 1000).high == 0 ? seconds &* 1000 : .max)
        let bounded = min(max(span, 0), 1 << 60) + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return milliseconds + bounded
    }
}
