/// How much of its past a namespace keeps, even if no watcher is registered.
///
/// With a history, a watcher that registers later, or again, sees what happened before: `changes(_:from: .after(…))`.
/// The rows that the history keeps count towards the namespace's byte limit. Each write pays for its row in the
/// journal, as it does with a watcher, but sends no change signal for it.
///
/// While a watcher is registered, the journal keeps what watchers are promised (65,536 changes or 16 MiB) or the
/// history, whichever is more.
public struct History: Sendable, Hashable {
    /// How many changes are kept, 1 to 16,777,216, or `nil` for 65,536.
    public var changes: Int?
    /// How many bytes of changes are kept, or `nil` for 16 MiB, or for a quarter of the namespace's byte limit if that
    /// is less.
    ///
    /// The number is 1 to 256 MiB, and at most a quarter of the namespace's byte limit.
    public var bytes: Int?

    /// Makes a history; an argument that is not given has its default.
    public init(changes: Int? = nil, bytes: Int? = nil) {
        self.changes = changes
        self.bytes = bytes
    }

    /// The most bytes that a history may ask for in a namespace with this byte limit.
    static func mostBytes(limit: Int) -> Int { min(256 << 20, limit / 4) }
    private static let mostChanges = 1 << 24

    /// The values for the counters: the rows, and the bytes or 0 for the journal's own bound.
    ///
    /// - Throws: `invalidArgument`.
    package func words(limit: Int) throws(SpaceError) -> (
        rows: UInt64, bytes: UInt64
    ) {
        let most = Self.mostBytes(limit: limit)
        guard (1...Self.mostChanges).contains(changes ?? 1), (1...most).contains(bytes ?? 1) else {
            throw .misuse(
                "a history of \(changes.map { "\($0) changes" } ?? "any number of changes")"
                    + (bytes.map { " and \($0) bytes" } ?? "") + " is out of range",
                advice: "keep 1 to \(Self.mostChanges) changes and 1 to \(most) bytes: a quarter of the byte limit"
            )
        }
        return (UInt64(changes ?? Int(JournalBound.ownRows)), UInt64(bytes ?? 0))
    }
}

extension Counters {
    /// Whether changes get rows in the journal: a watcher is registered, or the namespace keeps a history.
    package var isJournaling: Bool { watchers > 0 || historyRows > 0 }

    /// Whether tuples pass by the near end: what is written there is neither journaled nor logged.
    var keepsNearEndOff: Bool { isJournaling || logEntry != 0 }

    /// The history with its defaults filled in, or `nil` if the namespace keeps none.
    package func history(limit: UInt64) -> History? {
        guard historyRows > 0 else { return nil }
        var alone = self
        alone.watchers = 0
        let bound = JournalBound(alone, limit: limit)
        return History(changes: Int(clamping: bound.rows), bytes: Int(clamping: bound.bytes))
    }
}
