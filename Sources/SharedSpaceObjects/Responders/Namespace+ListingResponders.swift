// The responders of all processes: listing and removing.

extension Namespace {
    /// The responders of living processes to a name, in the order in which they are asked: base handlers last.
    ///
    /// - Parameter name: The name that they answer to, or `nil` for the responders to all names, by name.
    /// - Returns: The responders.
    /// - Throws: `readersExhausted`, `damaged`.
    public func responders(to name: String? = nil) throws(SpaceError) -> [Responder] {
        try attempt("list responders") { (core) throws(SpaceError) in
            try core.responders.living(to: name).map { Responder($0.name, $0.row) }
        }
    }

    /// Whether there is a responder to a name.
    ///
    /// - Parameters:
    ///   - name: The name that the responder answers to.
    ///   - key: The key of the responder, or `nil` for any responder.
    /// - Returns: Whether there is one.
    /// - Throws: `readersExhausted`, `damaged`.
    public func hasResponder(to name: String, key: String? = nil) throws(SpaceError) -> Bool {
        try responders(to: name).contains { key.isSame(as: nil) || key.isSame(as: $0.key) }
    }

    /// Takes a responder off the stack, in any process.
    ///
    /// The responder finishes the requests that it has begun, and its replies count.
    ///
    /// - Parameters:
    ///   - name: The name that the responder answers to.
    ///   - key: The key of the responder.
    /// - Returns: Whether there was one.
    /// - Throws: `holderStopped`, `holderBusy`.
    @discardableResult
    public func removeResponder(to name: String, key: String) throws(SpaceError) -> Bool {
        try attempt("remove a responder") { (core) throws(SpaceError) in
            try core.responders.retire(to: name) { $0.key.isSame(as: key) }
        }
    }
}
