// Claims that the caller knows by their numbers: as `space claim --hold` has printed them, or as another language keeps them.

extension Namespace {
    /// Whether a claim's number is smaller than those of all claims made since the namespace was created.
    package func isOfEarlierLife(claim number: UInt64) -> Bool { number < core.control.header.firstClaim }

    /// Extends the claim with a number, whichever process holds it: the command for which a process has claimed the tuple
    /// knows only the number.
    ///
    /// Returns `false` if there is no such claim.
    package func extend(claimNumbered number: UInt64, by duration: Duration) throws(SpaceError) -> Bool {
        guard let (claim, holder) = try claims(numbered: [number]).found[number] else { return false }
        return try attempt(Extend.name) { (core) throws(SpaceError) in
            let session: UInt64? = if case .session(let session) = holder { session } else { nil }
            try core.claiming.extend(claim, by: duration, of: session)
            return true
        }
    }

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
    ///
    /// A claim that is not there may have been made on another machine a moment ago, so its replica is brought up to date.
    ///
    /// - Throws: What ``synchronize(timeout:)`` throws, and a search.
    package func claims(numbered numbers: [UInt64]) throws(SpaceError) -> NumberedClaims {
        func search() throws(SpaceError) -> NumberedClaims {
            try attempt("look for a claim") { (core) throws(SpaceError) in
                NumberedClaims(namespace: self, found: try core.claiming.claims(numbered: Set(numbers)))
            }
        }
        let found = try search()
        guard isReplicated, found.found.count < Set(numbers).count else { return found }
        try synchronize()
        return try search()
    }

    /// The error of an operation on a claim that no longer exists.
    package func lostClaim(_ number: UInt64, _ operation: String) -> SpaceError {
        let reason =
            isOfEarlierLife(claim: number)
            ? "this life of the namespace has had no claim \(number): there never was one, or it is of an earlier life of the namespace"
            : "there is no claim \(number): it was ended, or its tuple has returned to the space"
        return SpaceError(.claimLost, operation, namespace: name, reason: reason, advice: "claim it again")
    }

    /// Ends or extends a claim that is known by its number.
    ///
    /// - Parameters:
    ///   - number: The claim's number.
    ///   - id: The id of its tuple; `nil`: it is looked up.
    ///   - end: What becomes of the claim.
    /// - Returns: Whether the claim still stood; if it did not, only a release is not refused.
    /// - Throws: `claimLost` if the tuple has returned.
    package func end(claimNumbered number: UInt64, on id: TupleID?, _ end: ClaimEnd) throws(SpaceError) -> Bool {
        let claim =
            if let id {
                HeldClaim(number: number, on: id)
            } else {
                try claim(numbered: number, to: end.operation)
            }
        switch end {
        case .complete(keeping: false): try perform(Complete(claim.key, session: core.session.number))
        case .complete(keeping: true): try keep(claim)
        case .release(let delay): return try release(claim, delay: delay)
        case .bury: try bury(claim)
        case .extend(let duration): try extend(claim, by: duration)
        }
        return true
    }
}

extension HeldClaim {
    /// A claim of which only what ends it is known.
    package init(number: UInt64, on id: TupleID) {
        self.init(id: id, number: number, tuple: Tuple(fields: []), deliveries: 0)
    }
}

/// What becomes of a claim.
package enum ClaimEnd {
    /// The tuple is removed permanently, or is back in its place as if it had never been claimed.
    case complete(keeping: Bool)
    /// The tuple is back in its place after a delay.
    case release(delay: Duration)
    /// The tuple is no longer handed out.
    case bury
    /// The claim lasts this long from now on, if that is longer than it would have.
    case extend(by: Duration)

    fileprivate var operation: String {
        switch self {
        case .complete: Complete.name
        case .release: ReleaseClaims.name
        case .bury: Bury.name
        case .extend: Extend.name
        }
    }
}

/// The claims that a search for several numbers has found.
package struct NumberedClaims {
    fileprivate let namespace: Namespace
    fileprivate let found: [UInt64: (claim: HeldClaim, holder: ClaimHolder)]

    /// The claim with a number; `nil` if it no longer exists.
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
