/// The set of fields that a typed formal matches.
///
/// If your own type conforms to ``TupleField``, its ``TupleField/fieldType`` is the type of the element that it
/// encodes.
@nonexhaustive
public indirect enum FieldType: Sendable, Hashable {
    /// Anything, including null.
    case any
    /// Only null.
    case null
    /// Bytes.
    case bytes
    /// A string.
    case string
    /// An array of anything.
    case array
    /// An integer.
    case int
    /// A double.
    case double
    /// A bool.
    case bool
    /// A UUID.
    case uuid
    /// An object of anything.
    case object
    /// An array or an object.
    case tuple
    /// An integer in a range.
    case integers(ClosedRange<Int>)
    /// An array whose elements are all of one type.
    case arrayOf(FieldType)
    /// An object whose values are all of one type.
    case objectOf(FieldType)
    /// Null, or a field of a type.
    case optional(FieldType)

    /// Null, or a field of this type.
    var orNull: FieldType {
        switch self {
        case .any, .optional, .null: self
        default: .optional(self)
        }
    }
}

extension FieldType {
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
        case .bytes: return code == TypeCode.bytes ? bytes.escapedEnd(from: start &+ 1) : nil
        case .string: return code == TypeCode.string ? bytes.escapedEnd(from: start &+ 1) : nil
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
