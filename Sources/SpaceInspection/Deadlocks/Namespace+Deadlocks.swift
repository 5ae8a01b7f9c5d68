extension Namespace {
    /// The deadlocks that the journal keeps, oldest first.
    ///
    /// - Returns: The changes of the kind ``ChangeKind/deadlock``.
    /// - Throws: `readersExhausted`, `damaged`.
    package func toldDeadlocks() throws(SpaceError) -> [Change] {
        try attempt("look for deadlocks") { (core) throws(SpaceError) in
            var told: [Change] = []
            var position: UInt64 = 0
            while true {
                let (changes, reached) = try core.journal.readJournal(after: position) { $0.kind == .deadlock }
                told += changes.filter { $0.kind == .deadlock }
                if reached == position { return told }
                position = reached
            }
        }
    }
}
