/// Reads fields one after the other from encoded bytes.
///
/// The bytes may be anything: if they are not the requested field, the decoder throws a ``TupleCodingError``. A decoder
/// borrows its bytes, so it must not outlive the call that it is passed to.
public struct TupleDecoder {
    private let bytes: UnsafeRawBufferPointer
    private let long: LongField
    private let isRecord: Bool
    /// The array that the bytes lie in, if they are an array's: a tuple made of all of them shares it.
    private let whole: [UInt8]?
    private var offset = 0

    /// How many arrays and objects are open.
    private var depth = 0

    /// Makes a decoder of bytes that stay valid while it is used.
    @usableFromInline
    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        long = LongField()
        isRecord = false
        whole = nil
    }

    /// Makes a decoder of a tuple whose bytes stay valid while it is used; `whole` is the array that they are, if they are
    /// one.
    package init(_ tuple: EncodedTuple, of whole: [UInt8]? = nil) {
        bytes = tuple.bytes
        long = tuple.long
        isRecord = tuple.isRecord
        self.whole = whole
    }

    /// The whole tuple, checked; its bytes are copied unless they are an array's.
    ///
    /// - Throws: A `TupleCodingError` of code `damaged` if the bytes are no tuple.
    package mutating func decodeTuple() throws(TupleCodingError) -> Tuple {
        skipAll()
        do throws(TupleCodingError) {
            if let whole { return try Tuple(encoded: whole, isRecord: isRecord) }
            return try Tuple(copying: EncodedTuple(bytes: bytes, isRecord: isRecord, long: long))
        } catch {
            throw TupleCodingError(.damaged, "\(error)")
        }
    }

    /// Skips all fields that are left, whatever they are.
    package mutating func skipAll() { offset = bytes.count }

    /// Whether no field is left in the tuple, or in the array being read.
    @inline(__always)
    public var isAtEnd: Bool {
        depth == 0 ? offset >= bytes.count : bytes.isContainerEnd(at: offset)
    }

    /// Whether the next field is null.
    @usableFromInline
    package var isAtNull: Bool {
        guard offset < bytes.count, bytes[offset] == TypeCode.null else { return false }
        return depth == 0 || !bytes.isContainerEnd(at: offset)
    }

    /// The next field's type code, or `nil` at the end.
    @inline(__always)
    package var code: UInt8? { isAtEnd || offset >= bytes.count ? nil : bytes[offset] }

    /// The next byte, whatever it is a part of; `nil` at the end of the bytes.
    var rawByte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Reads the next byte, whatever it is a part of.
    @discardableResult
    mutating func decodeByte() throws(TupleCodingError) -> UInt8 {
        guard let rawByte else { throw truncated("element") }
        offset += 1
        return rawByte
    }

    /// Reads the next field as `type`.
    public mutating func decode<Field: TupleField>(_ type: Field.Type = Field.self) throws(TupleCodingError) -> Field {
        try Field.decode(from: &self)
    }

    /// Reads null.
    @usableFromInline
    package mutating func decodeNull() throws(TupleCodingError) {
        guard isAtNull else { throw mismatch("null") }
        offset += depth == 0 ? 1 : 2
    }

    /// Reads an integer.
    @usableFromInline
    package mutating func decodeInt() throws(TupleCodingError) -> Int {
        guard let (value, end) = bytes.integer(at: offset) else { throw integerError() }
        offset = end
        return value
    }

    /// Reads a double.
    @usableFromInline
    package mutating func decodeDouble() throws(TupleCodingError) -> Double {
        guard let bits = bytes.doubleBits(at: offset) else { throw mismatch("double") }
        offset += 9
        return Double(orderedBits: bits)
    }

    /// Reads a bool.
    @usableFromInline
    package mutating func decodeBool() throws(TupleCodingError) -> Bool {
        guard let code, code == TypeCode.false || code == TypeCode.true else { throw mismatch("bool") }
        offset += 1
        return code == TypeCode.true
    }

    /// Reads a UUID.
    @usableFromInline
    package mutating func decodeUUID() throws(TupleCodingError) -> TupleUUID {
        guard code == TypeCode.uuid else { throw mismatch("UUID") }
        guard bytes.count - offset >= 17 else { throw truncated("UUID") }
        let high = bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt64.self).bigEndian
        let low = bytes.loadUnaligned(fromByteOffset: offset + 9, as: UInt64.self).bigEndian
        offset += 17
        return TupleUUID(high: high, low: low)
    }

    /// Reads a string.
    @usableFromInline
    package mutating func decodeString() throws(TupleCodingError) -> String {
        guard code == TypeCode.string else { throw mismatch("string") }
        guard let (content, end, isPlain) = content() else { throw truncated("string") }
        if isPlain, content.count < LongField.leastLength {
            // The UTF-8 is checked here, because `String(validating:as:)` takes 60 ns more.
            guard content.firstInvalidUTF8() == nil else { throw notUTF8() }
            offset = end
            return String(decoding: content, as: UTF8.self)
        }
        let string =
            isPlain
            ? String(validating: content, as: UTF8.self) : String(validating: Self.unescaped(content), as: UTF8.self)
        guard let string else { throw notUTF8() }
        offset = end
        return string
    }

    /// The content of the string or bytes at the offset, the end of the element, and whether the content has no escapes.
    @inline(__always)
    private func content() -> (content: UnsafeRawBufferPointer, end: Int, isPlain: Bool)? {
        if offset == long.start { return (bytes.slice(offset + 1..<long.end - 1), long.end, true) }
        guard let (end, isPlain) = bytes.contentEnd(from: offset + 1) else { return nil }
        return (bytes.slice(offset + 1..<end - 1), end, isPlain)
    }

    /// Skips a string whose content was compared.
    @usableFromInline
    mutating func skipString() throws(TupleCodingError) {
        guard code == TypeCode.string else { throw mismatch("string") }
        guard let (_, end, _) = content() else { throw truncated("string") }
        offset = end
    }

    /// Reads a string only to find its errors, and copies it only if it contains escapes or an error.
    package mutating func validateString() throws(TupleCodingError) {
        if code == TypeCode.string, let (content, end, isPlain) = content(), isPlain, content.firstInvalidUTF8() == nil
        {
            offset = end
        } else {
            _ = try decodeString()
        }
    }

    /// Reads bytes only to find their errors.
    package mutating func validateBytes() throws(TupleCodingError) {
        guard code == TypeCode.bytes else { throw mismatch("bytes") }
        guard let (_, end, _) = content() else { throw truncated("bytes") }
        offset = end
    }

    /// Reads bytes.
    @usableFromInline
    package mutating func decodeBytes() throws(TupleCodingError) -> [UInt8] {
        guard code == TypeCode.bytes else { throw mismatch("bytes") }
        guard let (content, end, isPlain) = content() else { throw truncated("bytes") }
        offset = end
        return isPlain ? Array(content) : Self.unescaped(content)
    }

    /// Reads an array; `body` decodes its elements until ``isAtEnd``.
    public mutating func decodeArray<Result>(
        _ body: (inout TupleDecoder) throws(TupleCodingError) -> Result
    ) throws(TupleCodingError) -> Result {
        try open(TypeCode.array)
        let result = try body(&self)
        try close()
        return result
    }

    /// Reads an object: checks that each name follows the one before, and lets `body` decode its value.
    package mutating func decodeObject(
        _ body: (String, inout TupleDecoder) throws(TupleCodingError) -> Void
    ) throws(TupleCodingError) {
        try open(TypeCode.record)
        var previous: String?
        while !isAtEnd {
            let start = offset
            let name = try decodeString()
            if let previous, previous.compareUTF8(name) >= 0 {
                throw TupleCodingError(
                    .malformed,
                    "the name \(name.debugDescription) repeats or is out of order",
                    at: .offset(start)
                )
            }
            guard !isAtEnd else {
                throw TupleCodingError(
                    .malformed,
                    "the name \(name.debugDescription) has no value",
                    at: .offset(offset)
                )
            }
            try body(name, &self)
            previous = name
        }
        try close()
    }

    private mutating func open(_ expected: UInt8) throws(TupleCodingError) {
        guard code == expected else { throw mismatch(TypeCode.name(expected)) }
        guard depth < TupleLimits.maximumDepth else {
            throw TupleCodingError(
                .tooDeep,
                "nested deeper than \(TupleLimits.maximumDepth) levels",
                at: .offset(offset)
            )
        }
        depth += 1
        offset += 1
    }

    private mutating func close() throws(TupleCodingError) {
        guard isAtEnd else {
            throw offset < bytes.count
                ? TupleCodingError(.typeMismatch, "more elements than expected", at: .offset(offset))
                : truncated("array or object")
        }
        offset += 1
        depth -= 1
    }

    /// Reads the next field, of whatever type.
    @usableFromInline
    package mutating func decodeValue() throws(TupleCodingError) -> Value {
        guard let code else {
            throw offset < bytes.count ? mismatch("a field") : truncated("field")
        }
        switch code {
        case TypeCode.null:
            try decodeNull()
            return .null
        case TypeCode.bytes: return .bytes(try decodeBytes())
        case TypeCode.string: return .string(try decodeString())
        case TypeCode.array: return .array(try decodeValues())
        case TypeCode.smallestInt...TypeCode.largestInt: return .int(try decodeInt())
        case TypeCode.double: return .double(try decodeDouble())
        case TypeCode.false, TypeCode.true: return .bool(try decodeBool())
        case TypeCode.uuid: return .uuid(try decodeUUID())
        case TypeCode.record: return .object(try decodeRecord())
        default: throw TypeCode.unreadable(code, at: offset)
        }
    }

    /// Reads an array of whatever elements.
    mutating func decodeValues() throws(TupleCodingError) -> [Value] {
        try decodeArray { (decoder) throws(TupleCodingError) in
            var values: [Value] = []
            while !decoder.isAtEnd { values.append(try decoder.decodeValue()) }
            return values
        }
    }

    /// Reads an object.
    @usableFromInline
    package mutating func decodeRecord() throws(TupleCodingError) -> Record {
        var elements: [Record.Element] = []
        try decodeObject { (name, decoder) throws(TupleCodingError) in
            elements.append((name, try decoder.decodeValue()))
        }
        return Record(sorted: elements)
    }

    /// Checks that nothing is left.
    @usableFromInline
    package func finish() throws(TupleCodingError) {
        guard offset == bytes.count else {
            throw TupleCodingError(.malformed, "more fields than expected", at: .offset(offset))
        }
    }

    /// The content with each 00 FF replaced by 00.
    private static func unescaped(_ content: UnsafeRawBufferPointer) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(content.count)
        var start = 0
        while let zero = content.firstZero(from: start) {
            result.append(contentsOf: content.slice(start..<zero + 1))
            start = Swift.min(zero + 2, content.count)
        }
        result.append(contentsOf: content.slice(start..<content.count))
        return result
    }

    // MARK: Errors

    private func notUTF8() -> TupleCodingError {
        TupleCodingError(.invalidUTF8, "a string is not UTF-8", at: .offset(offset))
    }

    private func truncated(_ what: String) -> TupleCodingError {
        TupleCodingError(.truncated, "the bytes end inside \(what)", at: .offset(offset))
    }

    package func mismatch(_ expected: String) -> TupleCodingError {
        guard let code else {
            let reason =
                offset < bytes.count ? "expected \(expected), found the end" : "expected \(expected), found nothing"
            return TupleCodingError(.typeMismatch, reason, at: .offset(offset))
        }
        let found = TypeCode.name(code)
        if found == expected { return truncated(expected) }
        return TupleCodingError(.typeMismatch, "expected \(expected), found \(found)", at: .offset(offset))
    }

    private func integerError() -> TupleCodingError {
        guard let code, TypeCode.smallestInt...TypeCode.largestInt ~= code else { return mismatch("integer") }
        let length = UnsafeRawBufferPointer.integerLength(code)
        guard bytes.count - offset > length else { return truncated("integer") }
        let first = bytes[offset + 1]
        if first == (code < TypeCode.zero ? 0xff : 0x00) {
            return TupleCodingError(.malformed, "an integer is longer than it needs to be", at: .offset(offset))
        }
        return TupleCodingError(
            .integerOutOfRange,
            "an integer beyond 64 bits can't be read; only Int64's range is kept",
            at: .offset(offset)
        )
    }
}
