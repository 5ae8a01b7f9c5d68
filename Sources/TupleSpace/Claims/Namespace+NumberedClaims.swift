import SpaceSystem

extension Namespace {
    /// The claim of an id that `space claim --hold` printed.
    ///
    /// - Throws: `claimLost` if there is no such claim any more; `invalidArgument` if it is another process's.
    package func claim(numbered number: UInt64, to operation: String) throws(SpaceError) -> HeldClaim {
        try claims(numbered: [number])(number, to: operation)
    }

    /// The claim with a number, held by this process or for another one; `nil` if there is none.
    ///
    /// - Throws: `invalidArgument` if it is another process's.
    package func claim(numbered number: UInt64) throws(SpaceError) -> HeldClaim? {
        try claims(numbered: [number]).claim(number)
    }

    /// The claims with some numbers, held by this process or for another one, which one search finds.
    package func claims(numbered numbers: [UInt64]) throws(SpaceError) -> NumberedClaims {
        try attempt("look for a claim") { (core) throws(SpaceError) in
            NumberedClaims(namespace: self, found: try core.claiming.claims(numbered: Set(numbers)))
        }
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

/// The claims that a search for several numbers has found.
package struct NumberedClaims {
    fileprivate let namespace: Namespace
    fileprivate let found: [UInt64: (claim: HeldClaim, holder: ClaimHolder)]

    /// The claim with a number; `nil` if there is none any more.
    ///
    /// - Throws: `invalidArgument` if it is another process's.
    fileprivate func claim(_ number: UInt64) throws(SpaceError) -> HeldClaim? {
        guard let (claim, holder) = found[number] else { return nil }
        if case .session(let session) = holder, session != namespace.core.session.number {
            throw .misuse(
                "claim \(number) belongs to a process that has not given it away",
                advice: "let that process end it"
            ).named("look for a claim", namespace.name)
        }
        return claim
    }

    /// The claim with a number.
    ///
    /// - Throws: `claimLost` if there is no such claim any more; `invalidArgument` if it is another process's.
    package func callAsFunction(_ number: UInt64, to operation: String) throws(SpaceError) -> HeldClaim {
        guard let claim = try claim(number) else { throw namespace.lostClaim(number, operation) }
        return claim
    }
}
