import SpaceSystem
import TupleCoding

extension Match {
    /// The content, as `decode` makes it.
    @inline(__always)
    package func decode<Content>(
        _ decode: (inout TupleDecoder) throws(TupleCodingError) -> Content
    ) throws(SpaceError) -> Content {
        do throws(TupleCodingError) {
            if let lent {
                var decoder = TupleDecoder(lent.pointee)
                return try decode(&decoder)
            }
            return try bytes.withBytes { (bytes) throws(TupleCodingError) in
                var decoder = TupleDecoder(EncodedTuple(bytes: bytes, isRecord: isRecord), of: self.bytes)
                return try decode(&decoder)
            }
        } catch {
            throw error.code == .damaged ? .damaged("tuple \(id.rawValue): \(error)") : SpaceError(error)
        }
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
