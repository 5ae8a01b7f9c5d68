import TupleCoding

extension Namespace {
    /// How much of what happened is kept also while nobody watches; `nil`: nothing.
    ///
    /// - Throws: `namespaceDeleted`, `closed`, `damaged`.
    public var history: History? {
        get throws(SpaceError) {
            let operation = "look at the namespace"
            let core = try usableCore(operation)
            return try core.read(operation) { (snapshot) throws(SpaceError) in
                try snapshot.counters().history(limit: core.control.header.byteLimit)
            }
        }
    }

    /// Says how much of what happens from now on is kept also while nobody watches.
    ///
    /// A smaller history is reached bit by bit, a few rows with each change; `nil` drops it at once unless somebody watches.
    ///
    /// - Parameter history: What to keep; `nil`: nothing.
    /// - Throws: `invalidArgument` when it is out of range, and what ``write(tuple:expires:)`` throws.
    public func setHistory(_ history: History?) throws(SpaceError) {
        let operation = "change the history"
        let core = try usableCore(operation)
        let limit = Int(clamping: core.control.header.byteLimit)
        let (rows, bytes) = try history?.words(limit: limit, operation, name) ?? (0, 0)
        try core.write(operation, .emptyingJournal) { (scope) throws(SpaceError) in
            scope.counters.historyRows = rows
            scope.counters.historyBytes = bytes
            scope.noteUpkeep()
            try scope.emptyJournalOfNobody()
        }
    }
}
