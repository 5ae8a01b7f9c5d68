import SpaceSystem

extension Namespace {
    /// The claim of an id that `space claim --hold` printed.
    ///
    /// - Throws: `claimLost` if there is no such claim any more.
    package func claim(numbered number: UInt64, to operation: String) throws(SpaceError) -> HeldClaim {
        guard let claim = try claim(numbered: number) else { throw lostClaim(number, operation) }
        return claim
    }

    /// The error of an operation on a claim that is there no more.
    package func lostClaim(_ number: UInt64, _ operation: String) -> SpaceError {
        let reason =
            isOfEarlierLife(claim: number)
            ? "this life of the namespace has had no claim \(number): there never was one, or it is of an earlier life of the namespace"
            : "there is no claim \(number): it was ended, or its tuple has returned to the space"
        return SpaceError(.claimLost, operation, namespace: name, reason: reason, advice: "claim it again")
    }
}
