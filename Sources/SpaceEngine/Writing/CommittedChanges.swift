/// What a write transaction made visible to waiters: tuples, and the interests that wait for cells, holds and objects.
///
/// The holder of the gate uses one object again and again. The first tuple is kept in words of its own, and the lists
/// are touched only if they have contents: the usual write makes one tuple visible.
package final class CommittedChanges {
    private(set) var tupleCount = 0
    private var firstTuple: UInt64 = 0
    /// No method is called while the object is being changed, so the check at run time, 90 instructions a tuple, is
    /// left out.
    @exclusivity(unchecked) private var otherTuples: [UInt64] = []
    private(set) var hasInterests = false
    private(set) var interests: [Interest] = []
    /// Whether all waiters at holds and objects look again.
    private(set) var hasAllHolds = false

    /// Whether a process waited when the transaction began; otherwise the bytes are not worth keeping.
    private var isAwaited = false
    /// The tuple whose bytes are kept, or 0 for none: the first one, if it can't expire and was not removed again.
    private var keptTuple: UInt64 = 0
    private var keptIsRecord = false
    private var kept: [UInt8] = []
    private static let mostKeptBytes = 1024

    package func begin(isAwaited: Bool) {
        self.isAwaited = isAwaited
        if tupleCount > 1 { otherTuples.removeAll(keepingCapacity: true) }
        if hasInterests {
            interests.removeAll(keepingCapacity: true)
            hasAllHolds = false
        }
        tupleCount = 0
        hasInterests = false
        keptTuple = 0
    }

    package func add(_ id: UInt64, _ tuple: EncodedTuple, expiry: Int64) {
        add(id)
        guard tupleCount == 1 else { return }
        guard isAwaited, expiry == 0, tuple.bytes.count <= Self.mostKeptBytes else { return }
        kept.removeAll(keepingCapacity: true)
        kept.append(contentsOf: tuple.bytes)
        keptTuple = id
        keptIsRecord = tuple.isRecord
    }

    /// Notes a tuple whose bytes are not at hand.
    func add(_ id: UInt64) {
        tupleCount += 1
        if tupleCount == 1 { firstTuple = id } else { otherTuples.append(id) }
    }

    package func add(_ interest: Interest) {
        interests.append(interest)
        hasInterests = true
    }

    /// Notes that something held or some object has changed, and it is not known which.
    func addAllHolds() {
        hasAllHolds = true
        hasInterests = true
    }

    /// Notes that a tuple was removed, which may have appeared in this transaction.
    package func remove(_ id: UInt64) {
        if keptTuple == id { keptTuple = 0 }
    }

    /// Runs `body` on the tuple if there is only one and its bytes are at hand, and returns whether it ran.
    func withOnlyTuple(_ body: (UInt64, EncodedTuple) -> Void) -> Bool {
        guard tupleCount == 1, keptTuple != 0 else { return false }
        kept.withUnsafeBytes { body(keptTuple, EncodedTuple(bytes: $0, isRecord: keptIsRecord)) }
        return true
    }

    /// Calls `body` with the ids of all tuples, in order; their bytes are looked up only if a process waits.
    func forEachTuple(_ body: (UInt64) throws(SpaceError) -> Void) throws(SpaceError) {
        guard tupleCount > 0 else { return }
        try body(firstTuple)
        for id in otherTuples { try body(id) }
    }
}
