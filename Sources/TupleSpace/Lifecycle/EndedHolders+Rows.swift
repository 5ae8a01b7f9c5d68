// Ending the tuples and cells whose holder has ended.

extension EndedHolders {
    private static let rowsAtOnce = 32

    /// Removes the tuples and unsets the cells that end with holders that have ended.
    ///
    /// They go in slices, each of which is a transaction that removes as much as fits one. A row that can't be removed,
    /// because it is damaged or disk space is missing, is left to a later time, and does not hold up the others.
    func dropRows(timeout: Duration?, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        let ended = try core.read { (snapshot) throws(SpaceError) -> [ClaimHolder] in
            guard try snapshot.counters().expiring > 0 else { return [] }
            return try snapshot.holdersOfRows().filter(hasEnded)
        }
        var left: Set<ExpiryKey> = []
        var refusal: SpaceError?
        for holder in ended {
            var most = Self.rowsAtOnce
            while true {
                let keys = try core.read { (snapshot) throws(SpaceError) in
                    try snapshot.rows(ofHolder: holder, limit: most, but: left)
                }
                guard !keys.isEmpty else { break }
                do throws(SpaceError) {
                    try core.write(.removing, timeout: timeout) { (scope) throws(SpaceError) in
                        try scope.due.remove(scope.due.fitting(keys))
                    }
                } catch  where error.isOfContent {
                    refusal = refusal ?? error
                    // Again with fewer, down to the one that causes the error.
                    if keys.count == 1 { left.insert(keys[0]) }
                    most = max(1, keys.count / 2)
                }
            }
        }
        if let refusal { throw refusal }
    }
}
