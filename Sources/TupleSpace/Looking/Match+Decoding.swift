import SpaceSystem
import TupleCoding

extension Match {
    /// The content, as `decode` makes it.
    @inline(__always)
    package func decode<Content>(
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> Content {
        do throws(TupleCodingError) {
            if let lent { return try lent.pointee.decode(decode) }
            return try bytes.withBytes { (bytes) throws(TupleCodingError) in
                try EncodedTuple(bytes: bytes, isRecord: isRecord).decode(of: self.bytes, decode)
            }
        } catch {
            throw SpaceError(error, of: id)
        }
    }
}

extension EncodedTuple {
    /// The content, as `decode` makes it of all bytes.
    ///
    /// `whole`: The array in which the bytes are stored, if they are stored in one.
    @inline(__always)
    func decode<Content>(
        of whole: [UInt8]? = nil,
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(TupleCodingError) -> Content {
        var decoder = TupleDecoder(self, of: whole)
        let content = try decode(&decoder)
        try decoder.finish()
        return content
    }
}

extension SpaceError {
    /// The error of a tuple that does not decode.
    init(_ error: TupleCodingError, of id: TupleID) {
        self = error.code == .damaged ? .damaged("tuple \(id.rawValue): \(error)") : SpaceError(error)
    }
}

extension Match {
    /// The tuple, after a check of all its bytes by `decode`, which reads them to the end.
    @inline(__always)
    func tuple(checkedBy decode: Keeping) throws(SpaceError) -> Tuple {
        try self.decode(decode)
        return Tuple(trusting: lent.map { Array($0.pointee.bytes) } ?? bytes, isRecord: isRecord)
    }
}

extension [Match] {
    /// The tuples, decoded.
    func tuples() throws(SpaceError) -> [Tuple] {
        var tuples: [Tuple] = []
        tuples.reserveCapacity(count)
        for match in self { tuples.append(try match.tuple()) }
        return tuples
    }

    /// What a selection makes of each.
    func contents<Content>(
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> [Content] {
        var contents: [Content] = []
        contents.reserveCapacity(count)
        for match in self { contents.append(try match.decode(decode)) }
        return contents
    }
}
