// Claims as plain values, and tuples that were buried.

extension Namespace {
    // MARK: Ending detached claims

    /// Ends a detached claim: the tuple is removed permanently, or put back in its place.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - keeping: Whether the tuple goes back to its place, as in ``Claim/complete(keeping:)``.
    /// - Throws: `claimLost` if the tuple returned to the space before.
    public func complete(_ claim: HeldClaim, keeping: Bool = false) throws(SpaceError) {
        guard keeping else { return try complete([claim]) }
        try perform(Keep(claim: claim.key, session: core.session.number))
    }

    /// Whether the claim still stands; if that can't be looked up, it counts as standing.
    package func isHeld(_ claim: HeldClaim) -> Bool { (try? core.claiming.isHeld(claim)) ?? true }

    /// Puts the tuple of a claim whose work has succeeded back, and lets a process that waits for it go first.
    package func keep(_ claim: HeldClaim) throws(SpaceError) {
        try complete(claim, keeping: true)
        core.waits.letWaiterGoFirst(claim.id)
    }

    /// Puts the tuple of a detached claim back in its place.
    ///
    /// - Parameters:
    ///   - claim: The claim.
    ///   - delay: How long no process finds the tuple, as in ``Claim/release(delay:)``.
    /// - Returns: Whether the tuple was still claimed; if it was not, nothing happens.
    /// - Throws: `invalidArgument` for a negative delay.
    @discardableResult
    public func release(_ claim: HeldClaim, delay: Duration = .zero) throws(SpaceError) -> Bool {
        try attempt(ReleaseClaims.name) { (core) throws(SpaceError) in
            try delay.checkNotNegative("a delay")
            return try core.execute(ReleaseClaims(claims: [claim.key], session: core.session.number, delay: delay))
        } > 0
    }

    /// Buries the tuple of a detached claim.
    ///
    /// - Throws: `claimLost` if the tuple returned to the space before.
    public func bury(_ claim: HeldClaim) throws(SpaceError) {
        try perform(Bury(claim: claim.key, session: core.session.number))
    }

    /// Moves the deadline of a detached claim to `duration` from now, if that is later.
    ///
    /// A claim without a deadline stays without one.
    ///
    /// - Throws: `claimLost` if the tuple returned to the space before.
    public func extend(_ claim: HeldClaim, by duration: Duration) throws(SpaceError) {
        try attempt(Extend.name) { (core) throws(SpaceError) in try core.claiming.extend(claim, by: duration) }
    }

    // MARK: Tuples that were buried

    /// The number of deliveries after which a tuple that returns from a claim is buried; `nil`: never.
    ///
    /// The limit is a setting of the namespace, not of the process.
    ///
    /// - Throws: What ``readAll(matching:order:max:)`` throws.
    public var deliveryLimit: Int? {
        get throws(SpaceError) {
            try attempt("look at the limit of deliveries") { (core) throws(SpaceError) in
                let limit = try core.read { (snapshot) throws(SpaceError) in try snapshot.counters().deliveryLimit }
                return limit == 0 ? nil : Int(limit)
            }
        }
    }

    /// Sets the number of deliveries after which a tuple is buried: when it returns from the last of them.
    ///
    /// - Parameter limit: The limit, from 1; `nil`: never, as in a new namespace. A tuple that is
    ///   claimed or visible now is checked against the limit at its next return.
    /// - Throws: `invalidArgument` for a limit below 1 or above 2³²−1, and what ``write(tuple:expires:lifetime:)`` throws.
    public func setDeliveryLimit(_ limit: Int?) throws(SpaceError) {
        try attempt("set the limit of deliveries") { (core) throws(SpaceError) in
            if let limit { try Limits.check(deliveryLimit: limit) }
            try core.write(.removing) { (scope) throws(SpaceError) in
                scope.counters.deliveryLimit = UInt64(limit ?? 0)
                scope.noteUpkeep()
            }
        }
    }

    /// The tuples that were buried, the oldest first.
    ///
    /// - Parameters:
    ///   - template: Which tuples to look for; the default matches all.
    ///   - max: The largest number of tuples to return.
    /// - Returns: Copies of the tuples, with their ids and the number of times that each had come back.
    /// - Throws: What ``readAll(matching:order:max:)`` throws.
    /// - Complexity: O(n) in the tuples that are claimed or buried.
    public func buried(matching template: Template = .any, max: Int = .max) throws(SpaceError) -> [BuriedTuple] {
        guard max > 0 else { return [] }
        return try attempt("look at what was buried") { (core) throws(SpaceError) in
            try core.read { (snapshot) throws(SpaceError) in try snapshot.buried(matching: template, max: max) }
        }
    }

    /// Puts tuples that were buried back in their places, and counts their deliveries from zero again.
    ///
    /// - Parameters:
    ///   - template: Which tuples to put back; the default matches all.
    ///   - max: The largest number of tuples to put back, the oldest first.
    /// - Returns: The number of tuples that were put back.
    /// - Throws: What ``write(tuple:expires:lifetime:)`` throws. More than 64 tuples are put back in several transactions.
    @discardableResult
    public func kick(matching template: Template = .any, max: Int = .max) throws(SpaceError) -> Int {
        try attempt("kick tuples back") { (core) throws(SpaceError) in
            var kicked = 0
            while kicked < max {
                let slice = try core.read { (snapshot) throws(SpaceError) in
                    try ClaimSlice(in: snapshot, max: max - kicked) { (id, claim) throws(SpaceError) in
                        guard claim.isBuried, let row = try snapshot.claimedTuple(id) else { return false }
                        return template.matches(row.encoded)
                    }
                }
                let more = try core.end(slice, timeout: nil) { (_, claim) in claim.isBuried }
                if more == 0 { break }
                kicked += more
            }
            return kicked
        }
    }

    /// Puts a tuple that was buried back in its place, and counts its deliveries from zero again.
    ///
    /// - Returns: Whether the tuple was buried.
    @discardableResult
    public func kick(id: TupleID) throws(SpaceError) -> Bool {
        try attempt("kick tuples back") { (core) throws(SpaceError) in
            try core.write(.removing, timeout: nil) { (scope) throws(SpaceError) in try scope.kick(id.rawValue) }
        }
    }

    /// Buries visible tuples.
    ///
    /// - Parameters:
    ///   - template: Which tuples to bury.
    ///   - max: The largest number of tuples to bury, the oldest first.
    /// - Returns: The number of tuples that were buried.
    /// - Throws: What ``takeAll(matching:order:max:)`` throws.
    @discardableResult
    public func bury(matching template: Template, max: Int = .max) throws(SpaceError) -> Int {
        try attempt(BuryFound.name) { (core) throws(SpaceError) in
            try core.looking.removeAll(template.form, .oldestFirst, max: max, by: { BuryFound(candidate: $0) }) {
                (_) throws(SpaceError) in
            }.count
        }
    }

    // MARK: Ending several at once

    /// Ends claims: the tuples are removed permanently.
    ///
    /// - Throws: `claimLost` if one of them returned before; then none is completed.
    package func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        try attempt(Complete.name) { (core) throws(SpaceError) in try core.claiming.complete(claims) }
    }

    /// Puts claimed tuples back in their places.
    ///
    /// `wasDelivered` says whether the claim counts as a delivery.
    package func release(_ claims: [HeldClaim], wasDelivered: Bool = true) throws(SpaceError) {
        let keys = claims.map(\.key)
        _ = try perform(ReleaseClaims(claims: keys, session: core.session.number, wasDelivered: wasDelivered))
    }
}

extension Snapshot {
    /// The tuples that match among those that were buried, the oldest first.
    fileprivate func buried(matching template: Template, max: Int) throws(SpaceError) -> [BuriedTuple] {
        var found: [BuriedTuple] = []
        guard try counters().withoutHolder > 0 else { return found }
        try forEachClaim { (id, claim) throws(SpaceError) in
            guard claim.isBuried, let row = try claimedTuple(id), template.matches(row.encoded)
            else { return true }
            let tuple = try tuple(id, row)
            found.append(BuriedTuple(id: TupleID(rawValue: id), tuple: tuple, deliveries: Int(row.deliveries)))
            return found.count < max
        }
        return found
    }
}
