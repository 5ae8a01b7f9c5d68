/// One field of a tuple, the value of a cell, or a part of either.
///
/// Equality, hashing and order are those of the encoded bytes: strings compare as UTF-8 (a composed and a decomposed
/// "é" differ), `1` and `1.0` differ, `-0.0` comes before `0.0` and differs from it, and two NaNs are equal if their
/// bits are. Between kinds the order is null, bytes, string, array, integer, double, bool, UUID, object.
public enum Value: Sendable {
    /// No value; a field that is null differs from an absent field.
    case null
    /// Bytes without further meaning.
    case bytes([UInt8])
    /// Text.
    case string(String)
    /// Values in order.
    case array([Value])
    /// A 64-bit integer.
    case int(Int)
    /// A 64-bit floating-point number.
    case double(Double)
    /// True or false.
    case bool(Bool)
    /// A UUID.
    case uuid(TupleUUID)
    /// Named values.
    case object(Record)
}

extension Value: Comparable, OrderedByEncoding {
    /// Whether both have the same encoding.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bytes(let left), .bytes(let right)): left == right
        case (.string(let left), .string(let right)): left.compareUTF8(right) == 0
        case (.array(let left), .array(let right)): left == right
        case (.int(let left), .int(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.bool(let left), .bool(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// The order of the encodings: negative, zero or positive.
    package func compare(_ other: Value) -> Int {
        switch (self, other) {
        case (.bytes(let left), .bytes(let right)):
            left.withUnsafeBytes { left in right.withUnsafeBytes { right in left.compare(right) } }
        case (.string(let left), .string(let right)): left.compareUTF8(right)
        case (.array(let left), .array(let right)): Self.compare(left, right)
        case (.int(let left), .int(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.double(let left), .double(let right)): Self.compare(left.orderedBits, right.orderedBits)
        case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
        case (.uuid(let left), .uuid(let right)): left.compare(right)
        case (.object(let left), .object(let right)): left.compare(right)
        default: rank - other.rank
        }
    }

    private static func compare(_ left: UInt64, _ right: UInt64) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }

    private static func compare(_ left: [Value], _ right: [Value]) -> Int {
        for (left, right) in zip(left, right) {
            let order = left.compare(right)
            if order != 0 { return order }
        }
        return left.count - right.count
    }

    /// The position of the kind in the order of the kinds, which is that of their type codes.
    private var rank: Int {
        switch self {
        case .null: 0
        case .bytes: 1
        case .string: 2
        case .array: 3
        case .int: 4
        case .double: 5
        case .bool: 6
        case .uuid: 7
        case .object: 8
        }
    }
}

extension Value: Hashable {
    /// Feeds the same bytes that equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(rank)
        switch self {
        case .null: break
        case .bytes(let bytes): hasher.combine(bytes)
        case .string(var string):
            // Hashing the string itself would normalize it, so its bytes are hashed.
            string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
            hasher.combine(0xff as UInt8)
        case .array(let values): hasher.combine(values)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.bitPattern)
        case .bool(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .object(let record): hasher.combine(record)
        }
    }
}

extension Value: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes an integer from a literal.
    public init(integerLiteral value: Int) {
        self = .int(value)
    }

    /// Makes a double from a literal.
    public init(floatLiteral value: Double) {
        self = .double(value)
    }

    /// Makes a string from a literal.
    public init(stringLiteral value: String) {
        self = .string(value)
    }

    /// Makes a bool from a literal.
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    /// Makes an array from a literal.
    public init(arrayLiteral elements: Value...) {
        self = .array(elements)
    }

    /// Makes an object from a literal.
    ///
    /// - Precondition: No name occurs twice.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .object(Record(literal: elements))
    }
}

extension Value {
    /// Whether arrays and objects enclose each other more than `limit` times.
    package func isNested(deeperThan limit: Int) -> Bool {
        switch self {
        case .array(let values):
            limit <= 0 || values.contains { $0.isNested(deeperThan: limit - 1) }
        case .object(let record):
            limit <= 0 || record.contains { $0.value.isNested(deeperThan: limit - 1) }
        default: false
        }
    }

    /// Why the value can't be a field, or `nil` if it can.
    package var depthFault: String? {
        guard isNested(deeperThan: TupleLimits.maximumDepth) else { return nil }
        return "is nested deeper than \(TupleLimits.maximumDepth) levels"
    }
}

extension Double {
    /// The bits, transformed so that their unsigned order is IEEE 754's total order (FoundationDB's design/tuple.md,
    /// "IEEE Binary Floating Point").
    @inlinable
    package var orderedBits: UInt64 {
        let bits = bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    /// Makes the double that has these ``orderedBits``.
    @inlinable
    package init(orderedBits bits: UInt64) {
        self.init(bitPattern: bits >> 63 == 1 ? bits & ~(1 << 63) : ~bits)
    }
}
