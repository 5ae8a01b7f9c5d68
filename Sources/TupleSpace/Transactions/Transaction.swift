/// The argument of a body of ``Namespace/transaction(_:)``: what a namespace can do with tuples, cells, claims and
/// notifications without waiting, in one step.
///
/// Ordered sets, dictionaries and queues take part through `orderedSet(_:)`, `dictionary(_:)` and `queue(_:)`. A
/// transaction can't bury, kick or renew tuples, or extend claims.
///
/// The body sees the namespace as it is, and its own changes. Other processes and threads see none of these changes
/// before the body has returned, and then all of them. The transaction can't be kept beyond the body.
public struct Transaction: ~Copyable {
    package let state: TransactionState

    package init(_ state: TransactionState) { self.state = state }

    package var name: String { state.namespace.name }

    // MARK: Writing

    /// Writes a tuple; ``write(tuple:expires:lifetime:)`` also returns its id.
    ///
    /// - Throws: `invalidArgument` for a negative `expires`, `tooLarge`, `transactionTooLarge`, `storageFull`,
    ///   `limitReached`.
    public func write<each F: TupleField>(
        _ field: repeat each F,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) {
        var encoder = TupleEncoder()
        repeat encoder.encode(each field)
        if let failure = encoder.failure { throw SpaceError(failure, Write.name, namespace: name) }
        try write(tuple: Tuple(trusting: encoder.bytes, isRecord: false), expires: expires, lifetime: lifetime)
    }

    /// Writes a tuple that exists as a value.
    ///
    /// - Returns: The tuple's id.
    @discardableResult
    public func write(
        tuple: Tuple,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> TupleID {
        try write(tuple, expires, lifetime, .adding)
    }

    /// Writes a tuple in place of one that the transaction takes: it may use the disk space kept back for removals.
    package func write(inPlaceOfTaken tuple: Tuple) throws(SpaceError) {
        _ = try write(tuple, nil, .permanent, .removing)
    }

    private func write(
        _ tuple: Tuple,
        _ expires: Duration?,
        _ lifetime: Lifetime,
        _ purpose: WritePurpose
    ) throws(SpaceError) -> TupleID {
        try state.naming(Write.name) { () throws(SpaceError) in
            try Limits.check(size: tuple.encoded.count)
            let expiry = try Expiry(expires, lifetime, state.namespace.core)
            if expiry.end.holder != nil { state.hasHolder = true }
            return try tuple.withEncoded { (tuple) throws(SpaceError) in
                try state.execute(Write(tuple, expiry), purpose)
            }
        }
    }

    /// Writes a `Codable` value as a record.
    ///
    /// - Returns: The tuple's id.
    @discardableResult
    public func write(
        record: some Encodable,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> TupleID {
        let tuple = try state.naming(Write.name) { () throws(SpaceError) in try Tuple(checking: record) }
        return try write(tuple: tuple, expires: expires, lifetime: lifetime)
    }

    // MARK: Reading

    /// Reads the first tuple that matches; `nil` if none does.
    public func readIfExists<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Content? {
        try state.first(selection.form, order, .read, selection.decode)?.content
    }

    /// Reads the first tuple that matches, as typed fields; `nil` if none does.
    public func readIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        let template = try state.namespace.template(for: .read, repeat each matcher)
        return try state.first(template, order, .read) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }?.content
    }

    /// All tuples that match.
    public func readAll<Content>(
        matching selection: Selection<Content> = Template.any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Content] {
        try state.all(selection, order, max: max, .read).contents
    }

    /// The number of tuples that match.
    public func count<Content>(matching selection: Selection<Content> = Template.any) throws(SpaceError) -> Int {
        try state.count(selection.form)
    }

    // MARK: Taking

    /// Takes the first tuple that matches; `nil` if none does.
    public func takeIfExists<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> Content? {
        try state.takeFirst(selection.form, order, selection.decode)
    }

    /// Takes the first tuple that matches, as typed fields; `nil` if none does.
    public func takeIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst
    ) throws(SpaceError) -> (repeat (each M).Matched)? {
        let template = try state.namespace.template(for: .take, repeat each matcher)
        return try state.takeFirst(template, order) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Takes all tuples that match.
    ///
    /// - Returns: What the selection makes of the tuples, in order.
    @discardableResult
    public func takeAll<Content>(
        matching selection: Selection<Content> = Template.any,
        order: MatchOrder = .oldestFirst,
        max: Int = .max
    ) throws(SpaceError) -> [Content] {
        let (matches, contents) = try state.all(selection, order, max: max, .take)
        try state.take(matches)
        return contents
    }

    // MARK: Claiming

    /// Claims the first tuple that matches; `nil` if none does.
    ///
    /// If the transaction is undone, so is the claim.
    ///
    /// - Parameters:
    ///   - selection: What to look for.
    ///   - order: Which tuple comes first, if several match.
    ///   - deadline: How long the claim lasts at most; `nil`: until it is ended.
    /// - Returns: The claim, as a plain value, and what the selection makes of the tuple; `nil` if nothing matches.
    /// - Throws: `invalidArgument` for a negative deadline, `transactionTooLarge`, `storageFull`, `limitReached`.
    public func claimIfExists<Content>(
        matching selection: Selection<Content>,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) throws(SpaceError) -> (claim: HeldClaim, content: Content)? {
        try state.claimFirst(selection.form, order, deadline, selection.decode)
    }

    /// Claims the first tuple that matches; `nil` if none does.
    ///
    /// - Returns: The claim, as a plain value, and the content: the fields, typed as the matchers say.
    public func claimIfExists<each M: Matcher>(
        _ matcher: repeat each M,
        order: MatchOrder = .oldestFirst,
        deadline: Duration? = nil
    ) throws(SpaceError) -> (claim: HeldClaim, content: (repeat (each M).Matched))? {
        let template = try state.namespace.template(for: .claim, repeat each matcher)
        return try state.claimFirst(template, order, deadline) { (decoder) throws(TupleCodingError) in
            try decoder.decodeMatched(repeat each matcher)
        }
    }

    /// Ends a claim: once the transaction is committed, the tuple is gone.
    ///
    /// - Throws: `claimLost` if the tuple returned to the space before; then the transaction is undone.
    public func complete(_ claim: HeldClaim) throws(SpaceError) { try state.complete(claim) }

    /// Puts a claimed tuple back in its place.
    ///
    /// - Returns: Whether the tuple was still claimed.
    @discardableResult
    public func release(_ claim: HeldClaim) throws(SpaceError) -> Bool { try state.release(claim) }
}
