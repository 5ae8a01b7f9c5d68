import SpaceSystem
import TupleCoding

// The ends of tuples: reading and moving the time at which a tuple expires, as with the leases of etcd and JavaSpaces.

extension Namespace {
    /// The time that a tuple still has; `nil` if it does not expire, or is not there.
    public func expiry(of id: TupleID) throws(SpaceError) -> Duration? { try end(of: id)?.timeLeft(core.clock) }

    /// Sets the time that a tuple has from now on; watchers get no change.
    ///
    /// - Parameters:
    ///   - id: The tuple's id. A claimed tuple is not there.
    ///   - expires: The time from now on, which may be shorter than what was left.
    /// - Returns: Whether the tuple was there.
    /// - Throws: `invalidArgument` for a negative time.
    @discardableResult
    public func renew(_ id: TupleID, expires: Duration) throws(SpaceError) -> Bool {
        let renewal = SetEnd(row: .tuple(id), expires: expires)
        try core.naming(renewal.name) { () throws(SpaceError) in try expires.checkNotNegative("an expiry") }
        return try perform(renewal)
    }

    /// Lets a tuple stay until a call removes it, whatever time and process it would have ended with.
    ///
    /// - Returns: Whether the tuple was there.
    @discardableResult
    public func persist(_ id: TupleID) throws(SpaceError) -> Bool {
        try perform(SetEnd(row: .tuple(id), expires: nil))
    }

    /// When a tuple ends by itself; `nil` if it is not there.
    package func end(of id: TupleID) throws(SpaceError) -> RowEnd? {
        try attempt("look at a tuple") { (core) throws(SpaceError) in
            try core.read(showsNear: true) { (snapshot) throws(SpaceError) in
                try snapshot.tupleRow(id.rawValue)?.end
            }
        }
    }
}
