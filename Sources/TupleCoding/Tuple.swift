/// Ordered fields (`["resize", 42, "cat.png"]`), or named fields, a *record* (`["kind": "resize", "id": 42]`).
///
/// A tuple holds its encoded bytes, and decodes a field when you ask for it. Equality, hashing and order are those of
/// the bytes. A tuple whose one field is an object comes before the record with the same bytes.
///
/// ```swift
/// let tuple: Tuple = ["resize", 42, "cat.png"]
/// let record: Tuple = ["kind": "resize", "id": 42]
/// ```
public struct Tuple: Sendable, Hashable, Comparable, OrderedByEncoding {
    /// The encoded fields one after the other, or the one object of a record.
    package let encoded: [UInt8]

    /// Whether the fields have names.
    ///
    /// The bytes alone don't tell: a record is encoded like a tuple of one field that is an object.
    public let isRecord: Bool

    /// Makes a tuple of bytes that were just encoded, without checking them.
    package init(trusting encoded: [UInt8], isRecord: Bool) {
        self.encoded = encoded
        self.isRecord = isRecord
    }

    /// Makes a tuple of bytes from any source, after checking all of them.
    ///
    /// - Throws: `TupleCodingError` if the bytes are not a tuple, or not in the form that this encoding would write.
    package init(encoded: [UInt8], isRecord: Bool) throws(TupleCodingError) {
        // Unlike `withUnsafeBytes`, this method keeps the type of the error.
        try encoded.withUnsafeBufferPointer { (bytes) throws(TupleCodingError) in
            try EncodedTuple(bytes: UnsafeRawBufferPointer(bytes), isRecord: isRecord).validate()
        }
        self.init(trusting: encoded, isRecord: isRecord)
    }

    /// Copies a tuple from any source, after checking all of its bytes.
    ///
    /// - Throws: What ``init(encoded:isRecord:)`` throws.
    package init(copying tuple: EncodedTuple) throws(TupleCodingError) {
        try tuple.validate()
        self.init(trusting: Array(tuple.bytes), isRecord: tuple.isRecord)
    }

    /// Makes a tuple of fields.
    ///
    /// - Precondition: No field is nested deeper than 64 levels; see ``init(checking:)-([Value])``.
    @inlinable
    public init<each Field: TupleField>(_ field: repeat each Field) {
        var encoder = TupleEncoder()
        repeat (each field).encode(into: &encoder)
        self.init(encoder, isRecord: false)
    }

    /// Makes a tuple of values.
    ///
    /// - Precondition: No value is nested deeper than 64 levels; see ``init(checking:)-([Value])``.
    package init(fields: [TupleCoding.Value]) {
        var encoder = TupleEncoder()
        for field in fields { field.encode(to: &encoder) }
        self.init(encoder, isRecord: false)
    }

    /// Makes a record.
    ///
    /// - Precondition: The record is not nested deeper than 64 levels; see
    ///   ``init(checking:)-(Record)``.
    package init(record: Record) {
        var encoder = TupleEncoder()
        record.encode(to: &encoder)
        self.init(encoder, isRecord: true)
    }

    /// Makes a tuple of values whose nesting comes from data.
    ///
    /// - Throws: `TupleCodingError` if a value is nested deeper than 64 levels.
    public init(checking fields: [TupleCoding.Value]) throws(TupleCodingError) {
        var encoder = TupleEncoder()
        for field in fields { field.encode(to: &encoder) }
        if let failure = encoder.failure { throw failure }
        self.init(trusting: encoder.bytes, isRecord: false)
    }

    /// Makes a record of values whose nesting comes from data.
    ///
    /// - Throws: `TupleCodingError` if the record is nested deeper than 64 levels.
    public init(checking record: Record) throws(TupleCodingError) {
        var encoder = TupleEncoder()
        record.encode(to: &encoder)
        if let failure = encoder.failure { throw failure }
        self.init(trusting: encoder.bytes, isRecord: true)
    }

    @usableFromInline
    init(_ encoder: TupleEncoder, isRecord: Bool) {
        precondition(encoder.failure == nil, "a field is nested deeper than \(TupleLimits.maximumDepth) levels")
        self.init(trusting: encoder.bytes, isRecord: isRecord)
    }
}

// MARK: Fields

extension Tuple {
    /// Passes the encoded form to `body`, which must not let it escape.
    package func withEncoded<Result>(_ body: (EncodedTuple) -> Result) -> Result {
        encoded.withUnsafeBytes { body(EncodedTuple(bytes: $0, isRecord: isRecord)) }
    }

    /// The fields in order; in a record, the values in the order of their names.
    ///
    /// - Complexity: O(n); every field is decoded.
    public var fields: [TupleCoding.Value] {
        if let record { return record.map(\.value) }
        return encoded.withUnsafeBytes { bytes in
            var decoder = TupleDecoder(bytes)
            var fields: [TupleCoding.Value] = []
            // The bytes were encoded by this type or validated, so reading can't fail.
            while !decoder.isAtEnd, let value = try? decoder.decodeValue() { fields.append(value) }
            return fields
        }
    }

    /// The named fields, or `nil` if the tuple is not a record.
    public var record: Record? {
        guard isRecord else { return nil }
        return encoded.withUnsafeBytes { bytes in
            var decoder = TupleDecoder(bytes)
            return (try? decoder.decodeRecord()) ?? Record()
        }
    }

    /// The number of fields, named or not.
    ///
    /// - Complexity: O(n)
    public var count: Int {
        withEncoded { $0.fieldCount ?? 0 }
    }

    /// The field at a position; in a record, the position is that in the order of the names.
    ///
    /// - Precondition: `0 <= position < count`
    /// - Complexity: O(n)
    public subscript(_ position: Int) -> TupleCoding.Value {
        let value = withEncoded { tuple in
            tuple.extent(ofField: position).flatMap { tuple.value(at: $0) }
        }
        guard let value else { preconditionFailure("field \(position) of a tuple that has \(count)") }
        return value
    }

    /// The field with a name, or `nil` if there is none or the tuple is not a record.
    ///
    /// - Complexity: O(n)
    public subscript(_ name: String) -> TupleCoding.Value? {
        withEncoded { tuple in
            tuple.extent(ofField: name).flatMap { tuple.value(at: $0) }
        }
    }
}

// MARK: Order and hash

extension Tuple {
    package func compare(_ other: Tuple) -> Int {
        let order = encoded.withUnsafeBytes { bytes in other.encoded.withUnsafeBytes { bytes.compare($0) } }
        return order != 0 ? order : (isRecord ? 1 : 0) - (other.isRecord ? 1 : 0)
    }
}

// MARK: Literals

extension Tuple: ExpressibleByArrayLiteral {
    /// Makes a tuple from a literal, whose elements may be of different types.
    public init(arrayLiteral elements: any TupleField...) {
        var encoder = TupleEncoder()
        for element in elements { element.encode(into: &encoder) }
        self.init(encoder, isRecord: false)
    }
}

extension Tuple: ExpressibleByDictionaryLiteral {
    /// Makes a record from a literal, whose values may be of different types.
    ///
    /// - Precondition: No name occurs twice.
    public init(dictionaryLiteral elements: (String, any TupleField)...) {
        let sorted = elements.sorted { $0.0.compareUTF8($1.0) < 0 }
        for (earlier, later) in zip(sorted, sorted.dropFirst()) {
            precondition(earlier.0.compareUTF8(later.0) != 0, "a tuple literal has the name \(later.0) twice")
        }
        var encoder = TupleEncoder()
        encoder.encodeObject { encoder in
            for (name, value) in sorted {
                encoder.encode(name)
                value.encode(into: &encoder)
            }
        }
        self.init(encoder, isRecord: true)
    }
}
