/// Writes fields one after the other in FoundationDB's tuple encoding, whose bytes have the same order as the values.
///
/// A type that conforms to ``TupleField`` appends exactly one element in its `encode(into:)`.
public struct TupleEncoder: Sendable {
    @usableFromInline var storage: [UInt8]

    /// How many arrays and records are open.
    @usableFromInline var depth = 0

    /// A long field, so that its end need not be searched for.
    @usableFromInline package private(set) var long = LongField()

    /// The error if a field was nested deeper than 64 levels; the bytes can't be used then.
    @usableFromInline package private(set) var failure: TupleCodingError?

    /// Makes an encoder with room for a short tuple.
    @inlinable
    package init() {
        // Most tuples then need one allocation; growing would cost a second one, and a copy.
        self.init(reservingCapacity: 112)
    }

    /// Makes an encoder with room for `capacity` bytes.
    @inlinable
    package init(reservingCapacity capacity: Int) {
        storage = []
        storage.reserveCapacity(capacity)
    }

    /// The bytes that have been written.
    @inlinable
    package var bytes: [UInt8] { storage }

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

    /// The bytes that have been written, which move to the caller.
    mutating func takeBytes() -> [UInt8] {
        var own: [UInt8] = []
        swap(&own, &storage)
        return own
    }

    /// The number of bytes that have been written.
    @inlinable
    package var count: Int { storage.count }

    /// Writes any field.
    @inlinable
    public mutating func encode<Field: TupleField>(_ field: Field) {
        field.encode(into: &self)
    }

    /// Writes null.
    @inlinable
    package mutating func encodeNull() {
        storage.append(TypeCode.null)
        // Inside an array or record, a bare 0x00 means the end (design/tuple.md, "Nested Tuple").
        if depth > 0 { storage.append(TypeCode.escape) }
    }

    /// Writes an integer: a type code for sign and length, then the big-endian bytes, complemented if it is negative.
    @inlinable
    package mutating func encode(_ value: Int) {
        let magnitude = value.magnitude
        let length = (UInt.bitWidth &- magnitude.leadingZeroBitCount &+ 7) >> 3
        let payload = value < 0 ? ~magnitude : magnitude
        let code = Int(TypeCode.zero) &+ (value < 0 ? 0 &- length : length)
        storage.append(UInt8(truncatingIfNeeded: code))
        var shift = (length &- 1) &* 8
        while shift >= 0 {
            storage.append(UInt8(truncatingIfNeeded: payload &>> UInt(truncatingIfNeeded: shift)))
            shift &-= 8
        }
    }

    /// Writes a double.
    @inlinable
    package mutating func encode(_ value: Double) {
        storage.append(TypeCode.double)
        appendBigEndian(value.orderedBits)
    }

    /// Writes a bool.
    @inlinable
    package mutating func encode(_ value: Bool) {
        storage.append(value ? TypeCode.true : TypeCode.false)
    }

    /// Writes a string.
    @inlinable
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
    @inlinable
    package mutating func encode(bytes: UnsafeRawBufferPointer) {
        appendEscaped(TypeCode.bytes, bytes)
    }

    /// Writes a UUID.
    package mutating func encode(_ value: TupleUUID) {
        storage.append(TypeCode.uuid)
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
        storage.append(code)
        return true
    }

    @usableFromInline
    mutating func close() {
        storage.append(0)
        depth -= 1
    }

    private mutating func fail() {
        failure = TupleCodingError(.tooDeep, "nested deeper than \(TupleLimits.maximumDepth) levels")
    }

    @usableFromInline
    mutating func appendBigEndian(_ value: UInt64) {
        withUnsafeBytes(of: value.bigEndian) { storage.append(contentsOf: $0) }
    }

    /// Appends content with a 0xFF after each 0x00, and then a 0x00 as its end.
    @usableFromInline
    mutating func appendEscaped(_ code: UInt8, _ content: UnsafeRawBufferPointer) {
        if content.count >= LongField.leastLength { return appendLong(code, content) }
        storage.append(code)
        appendEscaped(content)
        storage.append(0)
    }

    /// Appends content with a 0xFF after each 0x00.
    @inline(__always)
    private mutating func appendEscaped(_ content: UnsafeRawBufferPointer) {
        var start = 0
        while let zero = content.firstZero(from: start) {
            storage.append(contentsOf: content.slice(start..<zero &+ 1))
            storage.append(TypeCode.escape)
            start = zero &+ 1
        }
        if start < content.count { storage.append(contentsOf: content.slice(start..<content.count)) }
    }

    /// Does the same for long content: allocates once, and copies each part while the processor's cache still has it from
    /// the search for zeros.
    @inline(never)
    private mutating func appendLong(_ code: UInt8, _ content: UnsafeRawBufferPointer) {
        let start = storage.count
        let needed = start + content.count + 2
        // Some room for short fields that follow; without it they would double the storage, and copy it.
        if needed > storage.capacity { storage.reserveCapacity(max(needed + 256, 2 * storage.capacity)) }
        storage.append(code)
        for part in stride(from: 0, to: content.count, by: Self.partLength) {
            appendEscaped(content.slice(part..<min(part + Self.partLength, content.count)))
        }
        storage.append(0)
        if depth == 0, storage.count == needed { long = LongField(start: start, end: needed) }
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
        storage.append(contentsOf: element)
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
