import SpaceSystem
public import TupleCoding

extension Namespace {
    /// Writes a tuple.
    ///
    /// ```swift
    /// try jobs.write("resize", 42, "cat.png")
    /// ```
    ///
    /// It returns nothing, so that a body of one line may end with it, even in a function or task that returns nothing.
    /// If you need the tuple's id, to renew or claim the tuple, use ``write(tuple:expires:lifetime:)``.
    ///
    /// - Parameters:
    ///   - field: The fields, each a `TupleField`: integers, doubles, booleans, strings, bytes (`[UInt8]`), UUIDs,
    ///     arrays, dictionaries with string keys, optionals of these, `Value`. Together they take up to 64 MiB encoded.
    ///   - expires: The time after which the tuple is invisible; `nil`: never. With zero the tuple is accepted and
    ///     never seen; a negative time is refused.
    ///   - lifetime: With which process the tuple ends; watchers then get the change `expire`.
    /// - Throws: `invalidArgument` for a negative time, `noSuchProcess` for a process that does not run, `tooLarge`,
    ///   `storageFull`, `limitReached`, `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(log n), and one more row for each shape that has an index.
    @inlinable
    public func write<each F: TupleField>(
        _ field: repeat each F,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) {
        var encoder = TupleEncoder()
        repeat encoder.encode(each field)
        try write(&encoder, expires: expires, lifetime: lifetime)
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
        try insert(tuple, expires, lifetime)
    }

    /// Writes a `Codable` value as a record: its coding keys are the names of the fields.
    ///
    /// - Returns: The tuple's id.
    /// - Throws: `badData` when the value doesn't encode as an object.
    @discardableResult
    public func write(
        record: some Encodable,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> TupleID {
        let tuple = try core.naming(Write.name) { () throws(SpaceError) in try Tuple(checking: record) }
        return try insert(tuple, expires, lifetime)
    }

    /// Writes several tuples in one transaction: all or none, in order.
    ///
    /// - Returns: The ids of the tuples, in the same order.
    /// - Throws: What ``write(_:expires:lifetime:)`` throws, and `transactionTooLarge`.
    @discardableResult
    public func write(
        contentsOf tuples: some Sequence<Tuple>,
        expires: Duration? = nil,
        lifetime: Lifetime = .permanent
    ) throws(SpaceError) -> [TupleID] {
        try insert(Array(tuples), expires, lifetime)
    }

    /// The first function of a typed write that is not inlined into the caller.
    ///
    /// The encoder is `inout`, because a copy of bytes that were just stored one by one makes the processor wait for them.
    @usableFromInline
    func write(_ encoder: inout TupleEncoder, expires: Duration?, lifetime: Lifetime) throws(SpaceError) {
        if let failure = encoder.failure { throw SpaceError(failure, Write.name, namespace: name) }
        _ = try encoder.withEncoded { (tuple) throws(SpaceError) in try insert(tuple, expires, lifetime) }
    }

    private func insert(_ tuple: Tuple, _ expires: Duration?, _ lifetime: Lifetime) throws(SpaceError) -> TupleID {
        try tuple.withEncoded { (tuple) throws(SpaceError) in try insert(tuple, expires, lifetime) }
    }

    /// It takes the bytes and not the tuple, because a closure retains and releases a tuple that it captures again and
    /// again.
    package func insert(
        _ tuple: EncodedTuple,
        _ expires: Duration?,
        _ lifetime: Lifetime
    ) throws(SpaceError) -> TupleID {
        try attempt(Write.name) { (core) throws(SpaceError) in
            let expiry = try Expiry(expires, lifetime, core)
            if lifetime != .permanent { core.claimants.announce() }
            try Limits.check(size: tuple.bytes.count)
            return try core.execute(Write(tuple, expiry))
        }
    }

    private func insert(
        _ tuples: [Tuple],
        _ expires: Duration?,
        _ lifetime: Lifetime
    ) throws(SpaceError) -> [TupleID] {
        try attempt(Write.name) { (core) throws(SpaceError) in
            let expiry = try Expiry(expires, lifetime, core)
            if lifetime != .permanent { core.claimants.announce() }
            guard !tuples.isEmpty else { return [] }
            for tuple in tuples { try Limits.check(size: tuple.encoded.count) }
            return try core.execute(WriteAll(tuples: tuples, expiry: expiry))
        }
    }
}

extension Tuple {
    /// A caller's record as a tuple; throws `badData` if it doesn't encode as an object.
    package init(checking record: some Encodable) throws(SpaceError) {
        self.init(record: try coding { () throws(TupleCodingError) in try Record(encoding: record) })
    }
}
