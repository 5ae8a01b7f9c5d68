import SpaceSystem

/// Writes a tuple; the outcome is its id.
package struct Write: Operation {
    let tuple: EncodedTuple
    let expiry: Expiry

    @inline(__always)
    package init(_ tuple: EncodedTuple, _ expiry: Expiry) { (self.tuple, self.expiry) = (tuple, expiry) }

    package static var name: String { "write" }
    package static var purpose: WritePurpose { .adding }
    @inline(__always) package var holder: ClaimHolder? { expiry.end.holder }
    @inline(__always)
    package func with(holder: ClaimHolder) -> Write { Write(tuple, expiry.with(holder: holder)) }
    package func size(in scope: WriteScope) -> Int { tuple.bytes.count }

    @inline(__always)
    package func execute(withoutTransaction engine: Engine) throws(SpaceError) -> TupleID? {
        guard expiry.isNever else { return nil }
        return try engine.writeNear(tuple).map { TupleID(rawValue: $0) }
    }

    package func send(by core: NamespaceCore) throws(SpaceError) -> TupleID? {
        guard tuple.bytes.count <= SentOperations.mostBytes, !expiry.isNeverSeen else { return nil }
        return try SentWrite(Array(tuple.bytes), isRecord: tuple.isRecord, expiry.end).send(by: core)
    }

    package func execute(in scope: WriteScope) throws(SpaceError) -> TupleID {
        var cursors: TupleCursors?
        return try execute(in: scope, with: &cursors)
    }

    /// Writes the tuple as one of several, which share cursors.
    func execute(in scope: WriteScope, with cursors: inout TupleCursors?) throws(SpaceError) -> TupleID {
        guard expiry.isNeverSeen else {
            return TupleID(rawValue: try scope.insert(tuple, end: expiry.end, with: &cursors))
        }
        let id = scope.counters.nextTuple
        scope.counters.nextTuple += 1
        for kind in [ChangeKind.write, .expire] {
            try scope.note(kind, id: id, isRecord: tuple.isRecord, new: tuple.bytes)
        }
        return TupleID(rawValue: id)
    }
}

/// Writes several tuples, in order; the outcome are their ids.
struct WriteAll: Operation {
    let tuples: [Tuple]
    let expiry: Expiry

    static var name: String { Write.name }
    static var purpose: WritePurpose { .adding }
    var holder: ClaimHolder? { expiry.end.holder }
    func with(holder: ClaimHolder) -> WriteAll { WriteAll(tuples: tuples, expiry: expiry.with(holder: holder)) }

    func execute(in scope: WriteScope) throws(SpaceError) -> [TupleID] {
        var ids: [TupleID] = []
        ids.reserveCapacity(tuples.count)
        var cursors: TupleCursors? = try TupleCursors(scope)
        try scope.addEach(of: tuples.count, "tuples") { (index) throws(SpaceError) in
            ids.append(
                try tuples[index].withEncoded { (tuple) throws(SpaceError) in
                    try Write(tuple, expiry).execute(in: scope, with: &cursors)
                }
            )
        }
        return ids
    }
}

extension Tuple {
    /// Lends the tuple as it is encoded.
    @inline(__always)
    package func withEncoded<R>(_ body: (EncodedTuple) throws(SpaceError) -> R) throws(SpaceError) -> R {
        try encoded.withBytes { (bytes) throws(SpaceError) in
            try body(EncodedTuple(bytes: bytes, isRecord: isRecord))
        }
    }
}

extension TupleEncoder {
    /// Lends the tuple of the fields that were encoded.
    @inline(__always)
    mutating func withEncoded<R>(_ body: (EncodedTuple) throws(SpaceError) -> R) throws(SpaceError) -> R {
        let (count, long) = (count, long)
        func lend(_ bytes: UnsafeRawBufferPointer) throws(SpaceError) -> R {
            let bytes = UnsafeRawBufferPointer(start: bytes.baseAddress, count: count)
            return try body(EncodedTuple(bytes: bytes, isRecord: false, long: long))
        }
        return try encoded.isInPlace ? withUnsafeBytes(of: &encoded.place, lend) : encoded.heap.withBytes(lend)
    }
}
