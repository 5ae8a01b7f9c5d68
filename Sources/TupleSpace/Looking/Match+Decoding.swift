import SpaceSystem
import TupleCoding

extension Match {
    /// The content, as `decode` makes it.
    @inline(__always)
    package func decode<Content>(
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> Content {
        func decodeAll(_ decoder: inout TupleDecoder) throws(TupleCodingError) -> Content {
            let content = try decode(&decoder)
            try decoder.finish()
            return content
        }
        do throws(TupleCodingError) {
            if let lent {
                var decoder = TupleDecoder(lent.pointee)
                return try decodeAll(&decoder)
            }
            return try bytes.withBytes { (bytes) throws(TupleCodingError) in
                var decoder = TupleDecoder(EncodedTuple(bytes: bytes, isRecord: isRecord), of: self.bytes)
                return try decodeAll(&decoder)
            }
        } catch {
            throw error.code == .damaged ? .damaged("tuple \(id.rawValue): \(error)") : SpaceError(error)
        }
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
