// Completing a claim, and writing the results of the work, in one transaction.

extension Claim {
    /// Ends the claim together with the changes of `body`, in one transaction: either both happen or neither does.
    ///
    /// - Parameter body: The changes to make together with the completion; see ``Namespace/transaction(_:)``.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws, after which the claim is still held, and what ``complete(keeping:)`` throws.
    public func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        try state.complete(body)
    }
}

extension OwnClaim {
    /// Ends the claim in one transaction with the user's body.
    package func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        try namespace.attempt(Complete.name) { (_) throws(SpaceError) in try begin() }
        do {
            return try namespace.core.complete(claim, in: namespace, body)
        } catch {
            undo(error)
            throw error
        }
    }
}

extension Namespace {
    /// Ends a detached claim together with the changes of `body`, in one transaction.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - body: The changes to make together with the completion; see ``transaction(_:)``.
    /// - Returns: The result of `body`.
    /// - Throws: What `body` throws, and `claimLost`; then the claim is not ended.
    public func complete<Result>(
        _ claim: HeldClaim,
        _ body: (borrowing Transaction) throws -> Result
    ) throws -> Result {
        let core = try attempt(Complete.name) { (core) throws(SpaceError) in core }
        return try core.complete(claim, in: self, body)
    }
}

extension NamespaceCore {
    /// Completes a claim in one transaction with the changes of a body.
    package func complete<Result>(
        _ claim: HeldClaim,
        in namespace: Namespace,
        _ body: (borrowing Transaction) throws -> Result
    ) throws -> Result {
        try transaction(in: namespace, Complete.name) { transaction in
            // The completion comes first: if the claim is lost, the body must not run.
            try transaction.complete(claim)
            return try body(transaction)
        }
    }
}
