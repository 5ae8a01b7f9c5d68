import TupleCoding

/// What a write transaction made visible, for those who wait: tuples, and cells, holds and objects by what is awaited of them.
///
/// One object, used again and again by the holder of the gate. The first tuple stands in words of its own, and the lists are
/// touched only when they have something: the usual write makes one tuple visible, and each access to a list that is
/// changed in place is checked at run time.
package final class CommittedChanges {
    private(set) var tupleCount = 0
    private var firstTuple: UInt64 = 0
    private var otherTuples: [UInt64] = []
    private(set) var hasInterests = false
    private(set) var interests: [Interest] = []

    /// Whether somebody waited when the transaction began, so that bytes are worth keeping.
    private var isAwaited = false
    /// The tuple whose bytes are kept: the first, if it can't expire and wasn't removed again; 0: none's are.
    private var keptTuple: UInt64 = 0
    private var keptIsRecord = false
    private var kept: [UInt8] = []
    private static let mostKeptBytes = 1024

    package func begin(isAwaited: Bool) {
        self.isAwaited = isAwaited
        if tupleCount > 1 { otherTuples.removeAll(keepingCapacity: true) }
        if hasInterests { interests.removeAll(keepingCapacity: true) }
        tupleCount = 0
        hasInterests = false
        keptTuple = 0
    }

    package func add(_ id: UInt64, _ tuple: EncodedTuple, expiry: Int64) {
        tupleCount += 1
        guard tupleCount == 1 else { return otherTuples.append(id) }
        firstTuple = id
        guard isAwaited, expiry == 0, tuple.bytes.count <= Self.mostKeptBytes else { return }
        kept.removeAll(keepingCapacity: true)
        kept.append(contentsOf: tuple.bytes)
        keptTuple = id
        keptIsRecord = tuple.isRecord
    }

    package func add(_ interest: Interest) {
        interests.append(interest)
        hasInterests = true
    }

    /// Notes that a tuple was removed, perhaps one that had appeared.
    package func remove(_ id: UInt64) {
        if keptTuple == id { keptTuple = 0 }
    }

    /// Runs `body` on the tuple, if it is only one and its bytes are at hand.
    ///
    /// Returns: whether it was.
    func withOnlyTuple(_ body: (UInt64, EncodedTuple) -> Void) -> Bool {
        guard tupleCount == 1, keptTuple != 0 else { return false }
        kept.withUnsafeBytes { body(keptTuple, EncodedTuple(bytes: $0, isRecord: keptIsRecord)) }
        return true
    }

    /// The ids of all tuples, in order; the bytes are looked up only if somebody waits.
    func forEachTuple(_ body: (UInt64) throws(SpaceError) -> Void) throws(SpaceError) {
        guard tupleCount > 0 else { return }
        try body(firstTuple)
        for id in otherTuples { try body(id) }
    }
}
