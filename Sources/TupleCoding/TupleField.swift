/// A type whose values are fields of tuples.
///
/// Fields are the standard library's integers, up to `Int.max`, `Double`, `Float`, `Bool`, `String`, `Substring`,
/// bytes (`[UInt8]`), arrays, optionals and dictionaries of fields, and ``TupleUUID``, ``Value``, ``Record`` and
/// ``Tuple``. An enum with a raw value becomes a field when it declares the conformance:
///
/// ```swift
/// enum Priority: Int, TupleField { case low, high }
/// ```
///
/// As an element of a template, a field is an actual: it matches fields with the same encoding.
public protocol TupleField: Matcher where Matched == Self {
    /// The fields that a formal of this type matches.
    static var fieldType: FieldType { get }

    /// Appends exactly one element.
    func encode(into encoder: inout TupleEncoder)

    /// Reads the element that `encode(into:)` wrote.
    ///
    /// - Throws: `TupleCodingError` if the next element is not of this type.
    static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Self
}

extension TupleField {
    /// Adds the field to a template as an actual.
    @inlinable
    public func describe(into builder: inout TemplateBuilder) {
        builder.appendActual(self)
    }
}

// MARK: Integers

extension TupleField where Self: FixedWidthInteger {
    /// The fields that a formal of this type matches: the integers that the type can hold.
    public static var fieldType: FieldType {
        let range = (Int(exactly: min) ?? Int.min)...(Int(exactly: max) ?? Int.max)
        return range == Int.min...Int.max ? .int : .integers(range)
    }

    /// Appends the integer; one beyond `Int.max` makes the encoder fail.
    @inlinable
    public func encode(into encoder: inout TupleEncoder) {
        guard let value = Int(exactly: self) else { return encoder.fail(beyond: "\(self)") }
        encoder.encode(value)
    }

    /// Reads an integer that this type can hold.
    @inlinable
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Self {
        let value = try decoder.decodeInt()
        guard let result = Self(exactly: value) else { throw .outOfRange(value, Self.self) }
        return result
    }
}

extension TupleCodingError {
    @usableFromInline
    static func outOfRange(_ value: Int, _ type: Any.Type) -> TupleCodingError {
        TupleCodingError(.integerOutOfRange, "\(value) doesn't fit \(type)")
    }
}

extension Int: TupleField {}
extension Int8: TupleField {}
extension Int16: TupleField {}
extension Int32: TupleField {}
extension Int64: TupleField {}
extension UInt8: TupleField {}
extension UInt16: TupleField {}
extension UInt32: TupleField {}
extension UInt: TupleField {}
extension UInt64: TupleField {}

// MARK: Other scalars

extension TupleField where Self: BinaryFloatingPoint {
    /// The fields that a formal of this type matches: any double.
    public static var fieldType: FieldType { .double }

    /// Appends the double of the same value.
    @inlinable
    public func encode(into encoder: inout TupleEncoder) {
        encoder.encode(Double(self))
    }

    /// Reads a double; a shorter type takes the nearest of its values.
    @inlinable
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Self {
        Self(try decoder.decodeDouble())
    }
}

extension Double: TupleField {}
extension Float: TupleField {}

extension Bool: TupleField {
    /// The fields that a formal of this type matches.
    public static var fieldType: FieldType { .bool }

    /// Appends the bool.
    @inlinable
    public func encode(into encoder: inout TupleEncoder) {
        encoder.encode(self)
    }

    /// Reads a bool.
    @inlinable
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Bool {
        try decoder.decodeBool()
    }
}

extension TupleField where Self: StringProtocol {
    /// The fields that a formal of this type matches.
    public static var fieldType: FieldType { .string }
}

extension String: TupleField {
    /// Appends the string.
    @inlinable
    public func encode(into encoder: inout TupleEncoder) {
        encoder.encode(self)
    }

    /// Skips the field, which has the same bytes as this string.
    @inlinable
    public func matched(from decoder: inout TupleDecoder) throws(TupleCodingError) -> String {
        try decoder.skipString()
        return self
    }

    /// Reads a string.
    @inlinable
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> String {
        try decoder.decodeString()
    }
}

extension Substring: TupleField {
    /// Appends the string.
    public func encode(into encoder: inout TupleEncoder) {
        encoder.encode(String(self))
    }

    /// Reads a string.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Substring {
        Substring(try decoder.decodeString())
    }
}

extension TupleUUID: TupleField {
    /// The fields that a formal of this type matches.
    public static var fieldType: FieldType { .uuid }

    /// Appends the UUID.
    public func encode(into encoder: inout TupleEncoder) {
        encoder.encode(self)
    }

    /// Reads a UUID.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> TupleUUID {
        try decoder.decodeUUID()
    }
}

// MARK: Enums with raw values

extension TupleField where Self: RawRepresentable, RawValue: TupleField {
    /// The fields that a formal of this type matches: all fields of the raw value's type.
    public static var fieldType: FieldType { RawValue.fieldType }

    /// Appends the raw value.
    public func encode(into encoder: inout TupleEncoder) {
        rawValue.encode(into: &encoder)
    }

    /// Reads a raw value that has a case.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Self {
        let raw = try RawValue.decode(from: &decoder)
        guard let result = Self(rawValue: raw) else {
            throw TupleCodingError(.typeMismatch, "no \(Self.self) has the raw value \(raw)")
        }
        return result
    }
}
