import SpaceSystem
import TupleCoding

extension [Match] {
    /// The tuples, decoded.
    func tuples() throws(SpaceError) -> [Tuple] {
        var tuples: [Tuple] = []
        tuples.reserveCapacity(count)
        for match in self { tuples.append(try match.tuple()) }
        return tuples
    }
}

extension Match {
    /// Calls `body` with the row that was copied.
    func withRow<R>(_ body: (TupleRow) throws(SpaceError) -> R) throws(SpaceError) -> R {
        try bytes.withBytes { (bytes) throws(SpaceError) in try body(row(bytes)) }
    }
}
