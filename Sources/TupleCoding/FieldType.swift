/// The set of fields that a typed formal matches.
///
/// If your own type conforms to ``TupleField``, its ``TupleField/fieldType`` is the type of the element that it
/// encodes.
public struct FieldType: Sendable, Hashable {
    package indirect enum Kind: Sendable, Hashable {
        case any
        case null
        case bytes
        case string
        case array
        case int
        case double
        case bool
        case uuid
        case object
        case tuple
        case integers(ClosedRange<Int>)
        case arrayOf(Kind)
        case objectOf(Kind)
        case optional(Kind)
    }

    package let kind: Kind

    package init(_ kind: Kind) {
        self.kind = kind
    }

    /// Anything, including null.
    public static let any = FieldType(.any)
    /// Only null.
    public static let null = FieldType(.null)
    /// Bytes.
    public static let bytes = FieldType(.bytes)
    /// A string.
    public static let string = FieldType(.string)
    /// An array of anything.
    public static let array = FieldType(.array)
    /// An integer.
    public static let int = FieldType(.int)
    /// A double.
    public static let double = FieldType(.double)
    /// A bool.
    public static let bool = FieldType(.bool)
    /// A UUID.
    public static let uuid = FieldType(.uuid)
    /// An object of anything.
    public static let object = FieldType(.object)
    /// An array or an object.
    package static let tuple = FieldType(.tuple)

    /// An integer in a range.
    public static func integers(_ range: ClosedRange<Int>) -> FieldType {
        FieldType(range == Int.min...Int.max ? .int : .integers(range))
    }

    /// An array whose elements are all of one type.
    public static func array(of element: FieldType) -> FieldType {
        FieldType(element.kind == .any ? .array : .arrayOf(element.kind))
    }

    /// An object whose values are all of one type.
    public static func object(of value: FieldType) -> FieldType {
        FieldType(value.kind == .any ? .object : .objectOf(value.kind))
    }

    /// Null or a field of type `wrapped`.
    public static func optional(_ wrapped: FieldType) -> FieldType {
        switch wrapped.kind {
        case .any, .optional, .null: wrapped
        default: FieldType(.optional(wrapped.kind))
        }
    }
}

extension FieldType.Kind {
    /// Whether this is the type code of a string or bytes, and they are of this type whatever their content is.
    func hasContent(_ code: UInt8) -> Bool {
        switch self {
        case .any: code == TypeCode.string || code == TypeCode.bytes
        case .string: code == TypeCode.string
        case .bytes: code == TypeCode.bytes
        case .optional(let wrapped): wrapped.hasContent(code)
        default: false
        }
    }

    /// The end of the element that begins at `start`, or `nil` if the element is not of this type or is malformed.
    package func match(_ bytes: UnsafeRawBufferPointer, from start: Int, nested: Bool) -> Int? {
        guard start < bytes.count else { return nil }
        let code = bytes[start]
        switch self {
        case .any: break
        case .null: guard code == TypeCode.null else { return nil }
        case .bytes: guard code == TypeCode.bytes else { return nil }
        case .string: guard code == TypeCode.string else { return nil }
        case .array: guard code == TypeCode.array else { return nil }
        case .int: return bytes.integer(at: start)?.end
        case .double: guard code == TypeCode.double else { return nil }
        case .bool: guard code == TypeCode.false || code == TypeCode.true else { return nil }
        case .uuid: guard code == TypeCode.uuid else { return nil }
        case .object: guard code == TypeCode.record else { return nil }
        case .tuple: guard code == TypeCode.array || code == TypeCode.record else { return nil }
        case .integers(let range):
            guard let (value, end) = bytes.integer(at: start), range.contains(value) else { return nil }
            return end
        case .arrayOf(let element):
            guard code == TypeCode.array else { return nil }
            var index = start &+ 1
            while !bytes.isContainerEnd(at: index) {
                guard let end = element.match(bytes, from: index, nested: true) else { return nil }
                index = end
            }
            return index &+ 1
        case .objectOf(let value):
            return bytes.forEachPair(from: start) { _, extent in
                value.match(bytes, from: extent.lowerBound, nested: true) == extent.upperBound
            }
        case .optional(let wrapped):
            if code != TypeCode.null { return wrapped.match(bytes, from: start, nested: nested) }
        }
        return bytes.elementEnd(from: start, nested: nested)
    }
}
