/// The most that the journal keeps.
struct JournalBound: Equatable {
    /// The rows and bytes that watchers are promised, if the byte limit allows it.
    static let ownRows: UInt64 = 65_536
    static let ownBytes: UInt64 = 16 << 20

    var rows: UInt64
    var bytes: UInt64

    /// `limit` is the namespace's byte limit, which the journal alone must never fill.
    init(_ counters: Counters, limit: UInt64) {
        let own = min(Self.ownBytes, limit / 4)
        let kept = counters.historyBytes == 0 ? own : min(counters.historyBytes, limit / 4)
        if counters.watchers == 0 {
            (rows, bytes) = (counters.historyRows, kept)
        } else {
            rows = max(Self.ownRows, counters.historyRows)
            bytes = counters.historyRows == 0 ? own : max(own, kept)
        }
    }
}
