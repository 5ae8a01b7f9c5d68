import SpaceSystem
import TupleCoding

// Ending the tuples and cells whose holder has ended.

extension EndedHolders {
    private static let rowsAtOnce = 32

    /// Removes the tuples and unsets the cells that end with holders that have ended.
    ///
    /// They go in slices, each of which is a transaction. A row that can't be removed, because it is damaged or disk
    /// space is missing, is left to a later time.
    func dropRows(timeout: Duration?, where hasEnded: (ClaimHolder) -> Bool) throws(SpaceError) {
        let ended = try core.read { (snapshot) throws(SpaceError) -> [ClaimHolder] in
            guard try snapshot.counters().expiring > 0 else { return [] }
            return try snapshot.holdersOfRows().filter(hasEnded)
        }
        for holder in ended {
            var last: [ExpiryKey] = []
            while true {
                let keys = try core.read { (snapshot) throws(SpaceError) in
                    try snapshot.rows(ofHolder: holder, limit: Self.rowsAtOnce)
                }
                // Rows that a transaction has left in place are not tried again at once.
                guard !keys.isEmpty, keys != last else { break }
                last = keys
                try core.write(.removing, timeout: timeout) { (scope) throws(SpaceError) in try scope.due.remove(keys) }
            }
        }
    }
}
