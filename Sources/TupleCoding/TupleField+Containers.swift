// Fields that contain fields.

/// An optional is null if it is `nil`.
extension Optional: TupleField, Matcher, TemplateElement where Wrapped: TupleField {
    /// The fields that a formal of this type matches: null, and the fields that the wrapped type's formal matches.
    public static var fieldType: FieldType { Wrapped.fieldType.orNull }

    /// Appends the field, or null.
    @inlinable
    public func encode(into encoder: inout TupleEncoder) {
        switch self {
        case let field?: field.encode(into: &encoder)
        case nil: encoder.encodeNull()
        }
    }

    /// Reads null or the field.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Wrapped? {
        if decoder.isAtNull {
            try decoder.decodeNull()
            return nil
        }
        return try Wrapped.decode(from: &decoder)
    }
}

/// An array of fields is a nested array; an array of `UInt8` is bytes.
extension Array: TupleField, Matcher, TemplateElement where Element: TupleField {
    /// The fields that a formal of this type matches: arrays whose elements all match the element's formal, or bytes.
    public static var fieldType: FieldType {
        if Element.self == UInt8.self { return .bytes }
        let element = Element.fieldType
        return element == .any ? .array : .arrayOf(element)
    }

    /// Appends the array, or the bytes.
    public func encode(into encoder: inout TupleEncoder) {
        if Element.self == UInt8.self {
            withUnsafeBytes { encoder.encode(bytes: $0) }
        } else {
            encoder.encodeArray { encoder in
                for element in self { element.encode(into: &encoder) }
            }
        }
    }

    /// Reads an array, or bytes.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> [Element] {
        if Element.self == UInt8.self {
            // Both are the same type, but the compiler can't see that.
            return unsafeBitCast(try decoder.decodeBytes(), to: [Element].self)
        }
        return try decoder.decodeArray { (decoder) throws(TupleCodingError) in
            var elements: [Element] = []
            while !decoder.isAtEnd { elements.append(try Element.decode(from: &decoder)) }
            return elements
        }
    }
}

/// A dictionary is an object.
extension Dictionary: TupleField, Matcher, TemplateElement where Key == String, Value: TupleField {
    /// The fields that a formal of this type matches: objects whose values all match the value's formal.
    public static var fieldType: FieldType {
        let value = Value.fieldType
        return value == .any ? .object : .objectOf(value)
    }

    /// Appends the object, with its names in the order of their UTF-8.
    public func encode(into encoder: inout TupleEncoder) {
        let sorted = self.sorted { $0.key.compareUTF8($1.key) < 0 }
        encoder.encodeObject { encoder in
            for (name, value) in sorted {
                encoder.encode(name)
                value.encode(into: &encoder)
            }
        }
    }

    /// Reads an object.
    ///
    /// - Throws: `TupleCodingError`, also if two names differ as UTF-8 but are equal as Swift strings.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> [String: Value] {
        var result: [String: Value] = [:]
        try decoder.decodeObject { (name, decoder) throws(TupleCodingError) in
            guard result.updateValue(try Value.decode(from: &decoder), forKey: name) == nil else {
                throw TupleCodingError(
                    .duplicateName,
                    "two names are equal to a Dictionary: \(name.debugDescription); read the field as a Record"
                )
            }
        }
        return result
    }
}

extension Value: TupleField {
    /// The fields that a formal of this type matches: all fields.
    public static var fieldType: FieldType { .any }

    /// Appends the value.
    public func encode(into encoder: inout TupleEncoder) {
        encode(to: &encoder)
    }

    /// Reads the next field, of whatever type.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Value {
        try decoder.decodeValue()
    }
}

extension Record: TupleField {
    /// The fields that a formal of this type matches: any object.
    public static var fieldType: FieldType { .object }

    /// Appends the object.
    public func encode(into encoder: inout TupleEncoder) {
        encode(to: &encoder)
    }

    /// Reads an object.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Record {
        try decoder.decodeRecord()
    }
}

/// A tuple inside a tuple is an array, or an object if it is a record.
extension Tuple: TupleField {
    /// The fields that a formal of this type matches: any array or object.
    public static var fieldType: FieldType { .tuple }

    /// Appends the array or object.
    public func encode(into encoder: inout TupleEncoder) {
        encoded.withUnsafeBytes { bytes in
            if isRecord {
                encoder.append(element: bytes)
            } else {
                encoder.encodeArray { encoder in
                    _ = bytes.forEachElement { extent in
                        encoder.append(element: bytes.slice(extent))
                        return true
                    }
                }
            }
        }
    }

    /// Reads an array or object.
    public static func decode(from decoder: inout TupleDecoder) throws(TupleCodingError) -> Tuple {
        switch decoder.code {
        case TypeCode.array: return Tuple(fields: try decoder.decodeValues())
        case TypeCode.record: return Tuple(record: try decoder.decodeRecord())
        default: throw decoder.mismatch("array or object")
        }
    }
}
