extension Value {
    /// Encodes the value as one element.
    ///
    /// - Throws: An error if the value is nested deeper than 64 levels.
    package func encodedElement() throws(TupleCodingError) -> [UInt8] {
        var encoder = TupleEncoder()
        encoder.encode(self)
        if let failure = encoder.failure { throw failure }
        return encoder.bytes
    }

    /// The encoding of a value that can't fail: the library made or decoded the value, or has encoded it before.
    package var knownElement: [UInt8] {
        do throws(TupleCodingError) {
            return try encodedElement()
        } catch {
            preconditionFailure("a value of the library's own is \(error)")
        }
    }

    package init(encodedElement bytes: UnsafeRawBufferPointer) throws(TupleCodingError) {
        // Numbers need no decoder.
        if let bits = bytes.doubleBits(at: 0), bytes.count == 9 {
            self = .double(Double(orderedBits: bits))
            return
        }
        if let (value, end) = bytes.integer(at: 0), bytes.count == end {
            self = .int(value)
            return
        }
        var decoder = TupleDecoder(bytes)
        self = try decoder.decodeValue()
        try decoder.finish()
    }
}
