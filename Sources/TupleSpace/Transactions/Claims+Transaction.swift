import TupleCoding

// Completing a claim and doing what follows from it in one transaction.

extension Claim {
    /// Ends the claim together with what `body` does, in one transaction: either the results are there and the tuple is
    /// gone, or neither.
    ///
    /// - Parameter body: What is to happen at once with the completion; see ``Namespace/transaction(_:)``.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws, after which the claim is still held, and what ``complete()`` throws.
    public func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        try hold.complete(body)
    }
}

extension ClaimHold {
    /// Ends the claim together with a body of the user's.
    package func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        let core = try begin("complete a claim")
        do {
            return try core.complete(claim, in: namespace, body)
        } catch {
            undo(error)
            throw error
        }
    }
}

extension Namespace {
    /// Ends a detached claim together with what `body` does, in one transaction.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - body: What is to happen at once with the completion; see ``transaction(_:)``.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws, and `claimLost`; the claim is not ended then.
    public func complete<Result>(
        _ claim: HeldClaim,
        _ body: (borrowing Transaction) throws -> Result
    ) throws -> Result {
        try usableCore("complete a claim").complete(claim, in: self, body)
    }
}

extension NamespaceCore {
    /// Completes a claim together with what a body does.
    package func complete<Result>(
        _ claim: HeldClaim,
        in namespace: Namespace,
        _ body: (borrowing Transaction) throws -> Result
    ) throws -> Result {
        try transaction(in: namespace, "complete a claim") { transaction in
            // First: who has lost the claim has no business doing the rest.
            try transaction.complete(claim)
            return try body(transaction)
        }
    }
}
