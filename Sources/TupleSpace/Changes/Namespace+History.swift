extension Namespace {
    /// The history that the journal keeps even while no watcher is registered; `nil` for none.
    ///
    /// - Throws: `namespaceDeleted`, `closed`, `damaged`.
    public var history: History? {
        get throws(SpaceError) {
            try attempt("look at the namespace") { (core) throws(SpaceError) in
                try core.read { (snapshot) throws(SpaceError) in
                    try snapshot.counters().history(limit: core.control.header.byteLimit)
                }
            }
        }
    }

    /// Sets the history that the journal keeps from now on, even while no watcher is registered.
    ///
    /// A smaller history is reached gradually, a few rows with each change. `nil` drops the journal at once unless a
    /// watcher is registered.
    ///
    /// - Parameter history: What to keep; `nil` for nothing.
    /// - Throws: `invalidArgument` when it is out of range, and what ``write(tuple:expires:lifetime:)`` throws.
    public func setHistory(_ history: History?) throws(SpaceError) {
        try attempt("change the history") { (core) throws(SpaceError) in
            let limit = Int(clamping: core.control.header.byteLimit)
            try core.write(.removing) { (scope) throws(SpaceError) in
                let (rows, bytes) = try history?.words(limit: limit) ?? (0, 0)
                scope.counters.historyRows = rows
                scope.counters.historyBytes = bytes
                scope.noteUpkeep()
                try scope.emptyUnreadJournal()
            }
        }
    }
}
