import SpaceSystem

extension NamespaceCore {
    /// Completes claims through the daemon.
    ///
    /// - Returns: `false` if the process must do it itself.
    func sendCompletion(_ claims: [HeldClaim]) throws(SpaceError) -> Bool {
        guard isSending, claims.count <= SentOperation.mostTuples else { return false }
        let keys = claims.map { SentOperation.ClaimKey(id: $0.id.rawValue, number: $0.number) }
        let result = try send { .complete(keys) }
        guard case .done = result else { return try unfit(result) ?? false }
        return true
    }
}
