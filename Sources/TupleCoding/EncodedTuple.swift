/// A tuple's bytes where they lie, such as in a page of the database.
///
/// The bytes are borrowed and may be anything: what is asked of them is answered within their bounds.
package struct EncodedTuple {
    package let bytes: UnsafeRawBufferPointer

    /// Whether the tuple is a record; kept beside the bytes, which don't tell.
    package let isRecord: Bool

    package init(bytes: UnsafeRawBufferPointer, isRecord: Bool) {
        self.bytes = bytes
        self.isRecord = isRecord
    }

    /// Checks everything: bounds, type codes, the shortest form of integers, UTF-8, names unique and in order, depth,
    /// and that nothing follows.
    ///
    /// Bytes that pass are exactly what encoding the decoded tuple again would give.
    package func validate() throws(TupleCodingError) {
        var decoder = TupleDecoder(bytes)
        if isRecord {
            guard decoder.code == TypeCode.record else { throw decoder.mismatch("a record") }
            try decoder.validateElement()
            try decoder.finish()
        } else {
            while !decoder.isAtEnd { try decoder.validateElement() }
        }
    }

    /// Whether the structure holds; a cheaper question than ``validate()``, which also looks into strings.
    package var isWellFormed: Bool {
        isRecord
            ? bytes.forEachPair(from: 0) { _, _ in true } == bytes.count
            : bytes.forEachElement { _ in true }
    }

    /// How many fields there are, or nil when the bytes are malformed.
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

    /// Where the field at a position lies; of a record, its value.
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

    /// Where the value of a record's field lies.
    package func extent(ofField name: String) -> Range<Int>? {
        guard isRecord else { return nil }
        var encoder = TupleEncoder()
        encoder.encode(name)
        return encoder.bytes.withUnsafeBytes { wanted in
            var extent: Range<Int>?
            _ = bytes.forEachPair(from: 0) { found, value in
                if found.count == wanted.count, bytes.hasBytes(wanted, at: found.lowerBound) { extent = value }
                return extent == nil
            }
            return extent
        }
    }

    /// Decodes the field that lies there.
    package func value(at extent: Range<Int>) -> Value? {
        // Of a record's null only the 00 is decoded: alone, it is null at the top.
        let isNull = bytes[extent.lowerBound] == TypeCode.null
        var decoder = TupleDecoder(bytes.slice(isNull ? extent.prefix(1) : extent))
        return try? decoder.decodeValue()
    }
}

extension TupleDecoder {
    /// Reads one element for the errors alone.
    ///
    /// Decoding is the strictest reader there is. What lies inside arrays and objects is copied on the way; a field that
    /// is a string is not, since a watcher is told of tuples no faster than they are read here.
    fileprivate mutating func validateElement() throws(TupleCodingError) {
        if code == TypeCode.string { try validateString() } else { _ = try decodeValue() }
    }
}
