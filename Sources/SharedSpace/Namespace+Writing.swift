import TupleCoding

extension Namespace {
    /// Writes a tuple.
    ///
    /// ```swift
    /// try jobs.write("resize", 42, "cat.png")
    /// ```
    ///
    /// - Parameters:
    ///   - field: The fields: integers, strings, doubles, booleans, bytes, arrays, optionals of these, ``Value``.
    ///   - expires: After this time the tuple is invisible; `nil`: never. With zero it is checked and never seen.
    /// - Throws: `tooLarge`, `storageFull`, `limitReached`, `holderStopped`, `holderBusy`, `namespaceDeleted`.
    /// - Complexity: O(log n), and a row for each shape that has an index.
    public func write<each F: TupleField>(_ field: repeat each F, expires: Duration? = nil) throws(SpaceError) {
        var encoder = TupleEncoder()
        repeat encoder.encode(each field)
        try write(encoded: encoder.bytes, expires: expires)
    }

    /// Writes a tuple that is made already.
    @discardableResult
    public func write(tuple: Tuple, expires: Duration? = nil) throws(SpaceError) -> TupleID {
        try insert([tuple], expires: expires)[0]
    }

    /// Writes a `Codable` value as a record.
    @discardableResult
    public func write(record: some Encodable, expires: Duration? = nil) throws(SpaceError) -> TupleID {
        let tuple: Tuple
        do throws(TupleCodingError) {
            tuple = Tuple(record: try Record(encoding: record))
        } catch {
            throw SpaceError(error, "write", namespace: name)
        }
        return try insert([tuple], expires: expires)[0]
    }

    /// Writes several tuples in one transaction: all or none, in order.
    @discardableResult
    public func write(contentsOf tuples: some Sequence<Tuple>, expires: Duration? = nil) throws(SpaceError) -> [TupleID] {
        try insert(Array(tuples), expires: expires)
    }

    /// Where the inlined pack ends and the library begins.
    @usableFromInline
    func write(encoded bytes: [UInt8], expires: Duration?) throws(SpaceError) {
        _ = try insert([Tuple(trusting: bytes, isRecord: false)], expires: expires)
    }

    private func insert(_ tuples: [Tuple], expires: Duration?) throws(SpaceError) -> [TupleID] {
        let core = try usableCore("write")
        var bytes = 0
        for tuple in tuples {
            guard tuple.encoded.count <= Limits.valueBytes else { throw tooLarge("write", tuple.encoded.count) }
            bytes += tuple.encoded.count + TupleRow.headerSize + 24
        }
        guard !tuples.isEmpty else { return [] }
        let expiry = expires.map { core.clock.time(after: $0) } ?? 0
        let neverSeen = expires.map { $0 <= .zero } ?? false
        return try core.write("write", .adding(tuples.count, bytes: bytes)) { (scope) throws(SpaceError) in
            var ids: [TupleID] = []
            ids.reserveCapacity(tuples.count)
            for tuple in tuples {
                if neverSeen {
                    // Accepted, and gone before anybody could have looked.
                    ids.append(TupleID(rawValue: scope.counters.nextTuple))
                    scope.counters.nextTuple += 1
                    scope.noteChange()
                    continue
                }
                let id = try tuple.encoded.withBytes { (bytes) throws(SpaceError) in
                    try scope.insert(bytes, isRecord: tuple.isRecord, expiry: expiry)
                }
                ids.append(TupleID(rawValue: id))
            }
            return ids
        }
    }

    func tooLarge(_ operation: String, _ count: Int) -> SpaceError {
        SpaceError(
            .tooLarge,
            operation,
            namespace: name,
            reason: "\(count) bytes are more than the limit of \(Limits.valueBytes) (64 MiB)",
            advice: "keep large data in a file, and its name in the tuple"
        )
    }
}
