import SpaceSystem
public import TupleCoding

// Claims as plain values, and tuples that were set aside. Also the claims of the shell's take, which claims, prints and
// then completes, so that a tuple that could not be printed stays.

extension Namespace {
    // MARK: Ending detached claims

    /// Ends a detached claim: the tuple is gone for good.
    ///
    /// - Throws: `claimLost` if the tuple returned to the space before.
    public func complete(_ claim: HeldClaim) throws(SpaceError) { try complete([claim]) }

    /// Puts the tuple of a detached claim back in its place.
    ///
    /// - Returns: Whether the tuple was still claimed; if it was not, nothing happens.
    @discardableResult
    public func release(_ claim: HeldClaim) throws(SpaceError) -> Bool {
        try usableCore("release a claim").release([claim]) > 0
    }

    /// Sets the tuple of a detached claim aside.
    ///
    /// - Throws: `claimLost` if the tuple returned to the space before.
    public func bury(_ claim: HeldClaim) throws(SpaceError) { try usableCore("set a tuple aside").bury(claim) }

    /// Moves the deadline of a detached claim to `duration` from now, if that is later.
    ///
    /// A claim without a deadline stays without one.
    ///
    /// - Throws: `claimLost` if the tuple returned to the space before.
    public func extend(_ claim: HeldClaim, by duration: Duration) throws(SpaceError) {
        try usableCore("extend a claim").extend(claim, by: duration)
    }

    // MARK: Tuples that were set aside

    /// The number of deliveries after which a tuple that returns from a claim is set aside; `nil`: never.
    ///
    /// The limit is a setting of the namespace, not of the process.
    ///
    /// - Throws: What ``readAll(matching:order:max:)`` throws.
    public func deliveryLimit() throws(SpaceError) -> Int? {
        let operation = "look at the limit of deliveries"
        return try usableCore(operation).read(operation) { (snapshot) throws(SpaceError) in
            let limit = try snapshot.counters().deliveryLimit
            return limit == 0 ? nil : Int(limit)
        }
    }

    /// Sets the number of deliveries after which a tuple is set aside: when it returns from the last of them.
    ///
    /// - Parameter limit: The limit, from 1; `nil`: never, as in a new namespace. A tuple that is
    ///   claimed or visible now is checked against the limit at its next return.
    /// - Throws: `invalidArgument` for a limit below 1 or above 2³²−1, and what ``write(tuple:expires:)`` throws.
    public func setDeliveryLimit(_ limit: Int?) throws(SpaceError) {
        let operation = "set the limit of deliveries"
        if let limit, limit < 1 || limit > Int(UInt32.max) {
            throw SpaceError.badNumber(
                "\(limit) is no number of deliveries",
                advice: "give a number from 1, or nil for no limit"
            ).named(operation, name)
        }
        try usableCore(operation).write(operation, .removing) { (scope) throws(SpaceError) in
            scope.counters.deliveryLimit = UInt64(limit ?? 0)
            scope.noteUpkeep()
        }
    }

    /// The tuples that were set aside, the oldest first.
    ///
    /// - Parameters:
    ///   - template: Which tuples to look for; the default matches all.
    ///   - max: The largest number of tuples to return.
    /// - Returns: Copies of the tuples, with their ids and the number of times that each had come back.
    /// - Throws: What ``readAll(matching:order:max:)`` throws.
    /// - Complexity: O(n) in the tuples that are claimed or set aside.
    public func buried(matching template: Template = .any, max: Int = .max) throws(SpaceError) -> [BuriedTuple] {
        let operation = "look at what was set aside"
        guard max > 0 else { return [] }
        return try usableCore(operation).read(operation) { (snapshot) throws(SpaceError) in
            var found: [BuriedTuple] = []
            guard try snapshot.counters().buried > 0 else { return found }
            try snapshot.forEachClaim { (id, claim) throws(SpaceError) in
                guard claim.holder == .nobody, let row = TupleRow(claim.tupleBytes), template.matches(row.encoded)
                else { return true }
                found.append(
                    BuriedTuple(
                        id: TupleID(rawValue: id),
                        tuple: try snapshot.tuple(id, row),
                        deliveries: Int(row.deliveries)
                    )
                )
                return found.count < max
            }
            return found
        }
    }

    /// Puts tuples that were set aside back in their places, and counts their deliveries from zero again.
    ///
    /// - Parameters:
    ///   - template: Which tuples to put back; the default matches all.
    ///   - max: The largest number of tuples to put back, the oldest first.
    /// - Returns: The number of tuples that were put back.
    /// - Throws: What ``write(tuple:expires:)`` throws. More than 64 tuples are put back in several transactions.
    @discardableResult
    public func kick(matching template: Template = .any, max: Int = .max) throws(SpaceError) -> Int {
        let operation = "kick tuples back"
        let core = try usableCore(operation)
        var kicked = 0
        while kicked < max {
            let moved = try core.moveSlice(operation, max: max - kicked, timeout: nil) { (_, claim) in
                guard claim.holder == .nobody, let row = TupleRow(claim.tupleBytes) else { return false }
                return template.matches(row.encoded)
            }
            if moved == 0 { break }
            kicked += moved
        }
        return kicked
    }

    /// Puts a tuple that was set aside back in its place, and counts its deliveries from zero again.
    ///
    /// - Returns: Whether the tuple was set aside.
    @discardableResult
    public func kick(id: TupleID) throws(SpaceError) -> Bool {
        try usableCore("kick tuples back").moveSlice("kick tuples back", timeout: nil) { (candidate, claim) in
            candidate == id.rawValue && claim.holder == .nobody
        } > 0
    }

    /// Sets visible tuples aside.
    ///
    /// - Parameters:
    ///   - template: Which tuples to set aside.
    ///   - max: The largest number of tuples to set aside, the oldest first.
    /// - Returns: The number of tuples that were set aside.
    /// - Throws: What ``takeAll(matching:order:max:)`` throws.
    @discardableResult
    public func bury(matching template: Template, max: Int = .max) throws(SpaceError) -> Int {
        try usableCore("set tuples aside").takeAll("set tuples aside", template, .oldestFirst, max: max, isMoving: true)
        {
            (_) throws(SpaceError) in
        } _: { (scope, id, row) throws(SpaceError) in
            try scope.bury(id, row)
        }.count
    }

    // MARK: For the shell's take

    /// Claims matches at once, for as long as it takes to print them.
    ///
    /// One call claims as many matches as one transaction moves easily, and at most `max`; in a full namespace that may
    /// be one. Only an empty result means that no match is left.
    ///
    /// Other processes are not told to listen for the end of this process: telling them takes longer than such a claim
    /// lasts, and if this process is killed, a tick returns its claims.
    package func claimAll(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        max: Int = 1
    ) throws(SpaceError) -> [HeldClaim] {
        let core = try usableCore("claim")
        let terms = ClaimTerms(holder: .session(core.session.number), deadline: nil)
        var most = max
        while true {
            do throws(SpaceError) {
                return try core.takeAll(
                    "claim",
                    template,
                    order,
                    max: most,
                    maxBytes: Self.claimedBytes,
                    isMoving: true
                ) { (match) throws(SpaceError) in
                    try match.tuple()
                } _: { (scope, id, row) throws(SpaceError) in
                    try scope.claim(id, row, terms)
                }.map { HeldClaim($0.id, $0.result, $0.content) }
            } catch  where most > 1 && [.storageFull, .limitReached, .transactionTooLarge].contains(error.code) {
                // Halve the number, down to one tuple: the error for one tuple is the error to report.
                most = min(most, 512) / 2
            }
        }
    }

    /// The most bytes of tuples that one transaction claims: far less than is reserved for removals.
    private static let claimedBytes = 1 << 20

    /// Claims a match as soon as there is one, like ``claimAll(matching:order:max:)``; `nil` if the time-out passes
    /// first.
    ///
    /// If `timeout` is `nil`, only the interruption ends the wait early.
    package func claimOne(
        matching template: Template,
        order: MatchOrder = .oldestFirst,
        timeout: Duration?,
        interruption: Interruption?
    ) throws(SpaceError) -> HeldClaim? {
        let core = try usableCore("claim")
        let terms = ClaimTerms(holder: .session(core.session.number), deadline: nil)
        return try core.claimBlocking(template, order, terms, timeout: timeout, interruption: interruption) { _ in }?
            .claim
    }

    /// Ends claims: the tuples are gone for good.
    ///
    /// - Throws: `claimLost` if one of them returned before; then none is completed.
    package func complete(_ claims: [HeldClaim]) throws(SpaceError) {
        try usableCore("complete a claim").complete(claims)
    }

    /// Puts claimed tuples back in their places.
    ///
    /// `wasDelivered` says whether the claim counts as a delivery.
    package func release(_ claims: [HeldClaim], wasDelivered: Bool = true) throws(SpaceError) {
        try usableCore("release a claim").release(claims, wasDelivered: wasDelivered)
    }
}
