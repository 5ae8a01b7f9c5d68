import SpaceSystem

extension Match {
    /// Calls `body` with the row that was copied.
    func withRow<R>(_ body: (TupleRow) throws(SpaceError) -> R) throws(SpaceError) -> R {
        try bytes.withBytes { (bytes) throws(SpaceError) in try body(row(bytes)) }
    }
}
