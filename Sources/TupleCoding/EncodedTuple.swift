/// A tuple's bytes in place, for example in a page of the database.
///
/// The bytes are borrowed and may be anything: no method reads outside their bounds.
package struct EncodedTuple {
    package let bytes: UnsafeRawBufferPointer

    /// Whether the tuple is a record, which the bytes alone don't tell.
    package let isRecord: Bool

    /// The extent of a field that is a long string or long bytes without escapes, if it is known.
    ///
    /// Its content was searched for zeros once, and needs no further search.
    let long: LongField

    package init(bytes: UnsafeRawBufferPointer, isRecord: Bool, long: LongField = LongField()) {
        self.bytes = bytes
        self.isRecord = isRecord
        self.long = long
    }

    /// Checks the encoding completely.
    ///
    /// It checks bounds, type codes, the shortest form of integers, UTF-8, the uniqueness and order of names, the
    /// depth, and that nothing follows the tuple. If the bytes pass, decoding and encoding the tuple again gives the
    /// same bytes.
    package func validate() throws(TupleCodingError) {
        var decoder = TupleDecoder(self)
        if isRecord {
            guard decoder.code == TypeCode.record else { throw decoder.mismatch("a record") }
            try decoder.validateElement()
            try decoder.finish()
        } else {
            while !decoder.isAtEnd { try decoder.validateElement() }
        }
    }

    /// Whether the structure is intact; this is cheaper than ``validate()``, which also checks the strings.
    package var isWellFormed: Bool {
        isRecord
            ? bytes.forEachPair(from: 0) { _, _ in true } == bytes.count
            : bytes.forEachElement { _ in true }
    }

    /// The number of fields, or `nil` if the bytes are malformed.
    package var fieldCount: Int? {
        var count = 0
        if isRecord {
            let end = bytes.forEachPair(from: 0) { _, _ in
                count += 1
                return true
            }
            return end == bytes.count ? count : nil
        }
        let whole = bytes.forEachElement { _ in
            count += 1
            return true
        }
        return whole ? count : nil
    }

    /// The extent of the field at a position; in a record, the extent of its value.
    package func extent(ofField position: Int) -> Range<Int>? {
        var index = 0
        var extent: Range<Int>?
        let look = { (field: Range<Int>) -> Bool in
            defer { index += 1 }
            if index == position { extent = field }
            return index < position
        }
        if isRecord {
            _ = bytes.forEachPair(from: 0) { _, value in look(value) }
        } else {
            _ = bytes.forEachElement(look)
        }
        return extent
    }

    /// The extent of the value of a record's field.
    package func extent(ofField name: String) -> Range<Int>? {
        guard isRecord else { return nil }
        var encoder = TupleEncoder()
        encoder.encode(name)
        return encoder.encoded.withUnsafeBytes { wanted in
            var extent: Range<Int>?
            _ = bytes.forEachPair(from: 0) { found, value in
                if found.count == wanted.count, bytes.hasBytes(wanted, at: found.lowerBound) { extent = value }
                return extent == nil
            }
            return extent
        }
    }

    /// Decodes the field in an extent.
    package func value(at extent: Range<Int>) -> Value? {
        // In a record null is 00 FF. Only its 00 is decoded, which is null at the top level.
        let isNull = bytes[extent.lowerBound] == TypeCode.null
        var decoder = TupleDecoder(bytes.slice(isNull ? extent.prefix(1) : extent))
        return try? decoder.decodeValue()
    }
}

extension TupleDecoder {
    /// Reads one element only to find its errors.
    ///
    /// Decoding makes all checks, but copies the content of arrays and objects. A field that is a string or bytes is not
    /// copied, because this check limits how fast a watcher learns of tuples.
    fileprivate mutating func validateElement() throws(TupleCodingError) {
        switch code {
        case TypeCode.string: try validateString()
        case TypeCode.bytes: try validateBytes()
        default: _ = try decodeValue()
        }
    }
}
