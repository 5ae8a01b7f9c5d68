/// Writes fields one after the other in FoundationDB's tuple encoding, whose bytes have the same order as the values.
///
/// A type that conforms to ``TupleField`` appends exactly one element in its `encode(into:)`.
public struct TupleEncoder: Sendable {
    /// The bytes that have been written.
    @usableFromInline package var encoded: EncodedBytes

    /// How many arrays and records are open.
    private var depth = 0

    /// A long field, so that its end need not be searched for.
    package private(set) var long = LongField()

    /// The error if a field was nested deeper than 64 levels; the bytes can't be used then.
    @usableFromInline package private(set) var failure: TupleCodingError?

    /// Makes an encoder.
    @usableFromInline
    @inline(__always)
    package init() { encoded = EncodedBytes() }

    /// Makes an encoder that gets `capacity` bytes.
    package init(reservingCapacity capacity: Int) { encoded = EncodedBytes(reservingCapacity: capacity) }

    /// The bytes that have been written, as an array.
    @usableFromInline
    package var bytes: [UInt8] { encoded.array }

    /// The number of bytes that have been written.
    @inlinable
    package var count: Int { encoded.count }

    /// Notes that an integer doesn't fit a field, and appends 0 in its place.
    @usableFromInline
    mutating func fail(beyond integer: String) {
        let reason = "the integer \(integer) is beyond \(Int.max), the largest that a field holds; use a string"
        failure = failure ?? TupleCodingError(.integerOutOfRange, reason)
        encode(0)
    }

    /// Whether a field was nested too deep, or beyond what a field holds.
    @usableFromInline
    var hasFailed: Bool { failure != nil }

    /// Writes any field.
    @inlinable
    public mutating func encode<Field: TupleField>(_ field: Field) {
        field.encode(into: &self)
    }

    /// Writes null.
    @usableFromInline
    package mutating func encodeNull() {
        encoded.append(TypeCode.null)
        // Inside an array or record, a bare 0x00 means the end (design/tuple.md, "Nested Tuple").
        if depth > 0 { encoded.append(TypeCode.escape) }
    }

    /// Writes an integer: a type code for sign and length, then the big-endian bytes, complemented if it is negative.
    @usableFromInline
    package mutating func encode(_ value: Int) {
        let magnitude = value.magnitude
        let length = (UInt.bitWidth &- magnitude.leadingZeroBitCount &+ 7) >> 3
        encoded.append(UInt8(truncatingIfNeeded: Int(TypeCode.zero) &+ (value < 0 ? 0 &- length : length)))
        let payload = UInt64(value < 0 ? ~magnitude : magnitude)
        encoded.append((payload &<< UInt64(truncatingIfNeeded: 64 &- 8 &* length)).bigEndian, length: length)
    }

    /// Writes a double.
    @usableFromInline
    package mutating func encode(_ value: Double) {
        encoded.append(TypeCode.double)
        appendBigEndian(value.orderedBits)
    }

    /// Writes a bool.
    @usableFromInline
    package mutating func encode(_ value: Bool) {
        encoded.append(value ? TypeCode.true : TypeCode.false)
    }

    /// Writes a string.
    @usableFromInline
    package mutating func encode(_ value: String) {
        // Native strings have contiguous bytes. `withUTF8` would mutate the string, which counts references.
        let isDone: Void? = value.utf8.withContiguousStorageIfAvailable {
            appendEscaped(TypeCode.string, UnsafeRawBufferPointer($0))
        }
        guard isDone == nil else { return }
        var value = value
        value.withUTF8 { appendEscaped(TypeCode.string, UnsafeRawBufferPointer($0)) }
    }

    /// Writes bytes.
    @usableFromInline
    package mutating func encode(bytes: UnsafeRawBufferPointer) {
        appendEscaped(TypeCode.bytes, bytes)
    }

    /// Writes a UUID.
    package mutating func encode(_ value: TupleUUID) {
        encoded.append(TypeCode.uuid)
        appendBigEndian(value.high)
        appendBigEndian(value.low)
    }

    /// Writes an array; `body` encodes its elements.
    @inlinable
    public mutating func encodeArray(_ body: (inout TupleEncoder) -> Void) {
        encodeContainer(TypeCode.array, body)
    }

    /// Writes an object; `body` alternately encodes a name (a string) and a value, with the names in the order of their
    /// UTF-8.
    @inlinable
    package mutating func encodeObject(_ body: (inout TupleEncoder) -> Void) {
        encodeContainer(TypeCode.record, body)
    }

    @usableFromInline
    mutating func encodeContainer(_ code: UInt8, _ body: (inout TupleEncoder) -> Void) {
        guard open(code) else { return }
        body(&self)
        close()
    }

    /// Begins an array or object; `false` if it would be too deep, so that there is nothing to close.
    @usableFromInline
    mutating func open(_ code: UInt8) -> Bool {
        guard depth < TupleLimits.maximumDepth else {
            fail()
            return false
        }
        depth += 1
        encoded.append(code)
        return true
    }

    @usableFromInline
    mutating func close() {
        encoded.append(0)
        depth -= 1
    }

    private mutating func fail() {
        failure = TupleCodingError(.tooDeep, "nested deeper than \(TupleLimits.maximumDepth) levels")
    }

    mutating func appendBigEndian(_ value: UInt64) { encoded.append(value.bigEndian, length: 8) }

    /// Appends content with a 0xFF after each 0x00, and then a 0x00 as its end.
    private mutating func appendEscaped(_ code: UInt8, _ content: UnsafeRawBufferPointer) {
        if content.count >= LongField.leastLength { return appendLong(code, content) }
        encoded.append(code)
        appendEscaped(content)
        encoded.append(0)
    }

    /// Appends content with a 0xFF after each 0x00.
    @inline(__always)
    private mutating func appendEscaped(_ content: UnsafeRawBufferPointer) {
        var start = 0
        while let zero = content.firstZero(from: start) {
            encoded.append(content.slice(start..<zero &+ 1))
            encoded.append(TypeCode.escape)
            start = zero &+ 1
        }
        if start < content.count { encoded.append(content.slice(start..<content.count)) }
    }

    /// Does the same for long content: allocates once, and copies each part while the processor's cache still has it from
    /// the search for zeros.
    @inline(never)
    private mutating func appendLong(_ code: UInt8, _ content: UnsafeRawBufferPointer) {
        let start = count
        let needed = start + content.count + 2
        encoded.reserve(content.count + 2)
        encoded.append(code)
        for part in stride(from: 0, to: content.count, by: Self.partLength) {
            appendEscaped(content.slice(part..<min(part + Self.partLength, content.count)))
        }
        encoded.append(0)
        if depth == 0, count == needed { long = LongField(start: start, end: needed) }
    }

    /// Half of the smallest first cache of today's processors.
    private static let partLength = 16 << 10

    /// Appends an element that was already encoded at the top level of a tuple.
    package mutating func append(element: UnsafeRawBufferPointer) {
        if depth > 0, element.count == 1, element[0] == TypeCode.null {
            encodeNull()
            return
        }
        if depth > 0, depth + element.nesting > TupleLimits.maximumDepth {
            fail()
            return
        }
        encoded.append(element)
    }
}

extension Value {
    /// Appends the value as one element.
    package func encode(to encoder: inout TupleEncoder) {
        switch self {
        case .null: encoder.encodeNull()
        case .bytes(let bytes): bytes.withUnsafeBytes { encoder.encode(bytes: $0) }
        case .string(let string): encoder.encode(string)
        case .array(let values): encoder.encodeArray { for value in values { value.encode(to: &$0) } }
        case .int(let value): encoder.encode(value)
        case .double(let value): encoder.encode(value)
        case .bool(let value): encoder.encode(value)
        case .uuid(let value): encoder.encode(value)
        case .object(let record): record.encode(to: &encoder)
        }
    }
}

extension Record {
    /// Appends the record as one element.
    package func encode(to encoder: inout TupleEncoder) {
        encoder.encodeObject { encoder in
            for (name, value) in self {
                encoder.encode(name)
                value.encode(to: &encoder)
            }
        }
    }
}
