// Conversions between Codable types and values, and the conformance of values to Codable.

extension Value {
    /// Makes a value of an Encodable instance: a scalar, an array or an object.
    ///
    /// - Throws: `TupleCodingError` for an integer outside `Int64`, for nesting deeper than 64 levels, and if
    ///   `content` itself throws.
    public init(encoding content: some Encodable) throws(TupleCodingError) {
        self = try ValueEncoder.encode(content)
    }

    /// Reads the value as a Decodable type.
    ///
    /// - Throws: `TupleCodingError`, with the path to the field, if the value can't be read as that type.
    public func decode<Content: Decodable>(_ type: Content.Type = Content.self) throws(TupleCodingError) -> Content {
        try ValueDecoder.decode(type, from: self)
    }
}

extension Record {
    /// Makes a record of an Encodable struct, class or dictionary.
    ///
    /// A `nil` property is left out; `[UInt8]` becomes bytes.
    ///
    /// - Throws: `TupleCodingError` if `content` isn't encoded as an object, for an integer outside `Int64`, for
    ///   nesting deeper than 64 levels, and if `content` itself throws.
    package init(encoding content: some Encodable) throws(TupleCodingError) {
        guard case .object(let record) = try ValueEncoder.encode(content) else {
            throw TupleCodingError(.codable, "\(type(of: content)) is not encoded as an object, so it is no record")
        }
        self = record
    }

    /// Reads the record as a Decodable type.
    ///
    /// - Throws: `TupleCodingError`, with the path to the field, if the record can't be read as that type.
    package func decode<Content: Decodable>(_ type: Content.Type = Content.self) throws(TupleCodingError) -> Content {
        try ValueDecoder.decode(type, from: .object(self))
    }
}

// MARK: Errors

extension TupleCodingError {
    /// Wraps the error of a Codable type, with the path that it contains.
    init(codable error: any Error) {
        switch error {
        case EncodingError.invalidValue(_, let context):
            self.init(.codable, context.debugDescription, at: .path(Self.path(context.codingPath)))
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            self.init(.typeMismatch, context.debugDescription, at: .path(Self.path(context.codingPath)))
        case DecodingError.keyNotFound(_, let context):
            self.init(.missingField, context.debugDescription, at: .path(Self.path(context.codingPath)))
        case DecodingError.dataCorrupted(let context):
            self.init(.codable, context.debugDescription, at: .path(Self.path(context.codingPath)))
        default:
            self.init(.codable, "\(error)")
        }
    }

    static func tooDeep(at path: [any CodingKey] = []) -> TupleCodingError {
        TupleCodingError(
            .tooDeep,
            "nested deeper than \(TupleLimits.maximumDepth) levels",
            at: path.isEmpty ? nil : .path(self.path(Array(path.prefix(4))) + "…")
        )
    }

    /// The path in the form `jobs[2].name`.
    private static func path(_ keys: [any CodingKey]) -> String {
        var text = ""
        for key in keys {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return text
    }
}

// MARK: Values inside Codable types

/// In a record, a `Value` is encoded as itself; other encoders get plain data.
extension Value: Codable {
    /// Reads the value of any decoder; only a record's decoder knows bytes and UUIDs.
    public init(from decoder: any Decoder) throws {
        if let decoder = decoder as? ValueDecoder {
            self = decoder.value
            return
        }
        if let keyed = try? decoder.container(keyedBy: PathKey.self) {
            var record = Record()
            for key in keyed.allKeys { record[key.stringValue] = try keyed.decode(Value.self, forKey: key) }
            self = .object(record)
            return
        }
        if var unkeyed = try? decoder.unkeyedContainer() {
            var values: [Value] = []
            while !unkeyed.isAtEnd { values.append(try unkeyed.decode(Value.self)) }
            self = .array(values)
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? single.decode(Int.self) {
            self = .int(value)
        } else if let value = try? single.decode(Double.self) {
            self = .double(value)
        } else {
            self = .string(try single.decode(String.self))
        }
    }

    /// Writes the value as plain data: bytes as an array of integers, a UUID as its text.
    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .array(let values):
            var container = encoder.unkeyedContainer()
            for value in values { try container.encode(value) }
        case .object(let record):
            try record.encode(to: encoder)
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bytes(let value): try Self.encode(value, to: encoder)
        case .string(let value): try Self.encode(value, to: encoder)
        case .int(let value): try Self.encode(value, to: encoder)
        case .double(let value): try Self.encode(value, to: encoder)
        case .bool(let value): try Self.encode(value, to: encoder)
        case .uuid(let value): try Self.encode(value, to: encoder)
        }
    }

    private static func encode(_ content: some Encodable, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }
}

/// In a record, a `Record` is encoded as itself; other encoders get an object of plain data.
extension Record: Codable {
    /// Reads an object.
    public init(from decoder: any Decoder) throws {
        guard case .object(let record) = try Value(from: decoder) else {
            throw DecodingError.typeMismatch(
                Record.self,
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "expected an object")
            )
        }
        self = record
    }

    /// Writes an object of plain data.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: PathKey.self)
        for (name, value) in self { try container.encode(value, forKey: PathKey(stringValue: name)) }
    }
}
