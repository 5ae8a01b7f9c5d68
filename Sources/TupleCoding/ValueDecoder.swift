/// Turns values into instances of Codable types; `ValueEncoder` tells which value a type becomes.
///
/// One conversion is made: where a floating-point number is expected, an integer is accepted if the type holds it
/// exactly, because people write `1` for `1.0` in the shell. Nothing else is converted.
struct ValueDecoder: Decoder {
    let value: Value
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let record) = value else { throw mismatch("an object") }
        return KeyedDecodingContainer(KeyedDecodedValues<Key>(record: record, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let values) = value else { throw mismatch("an array") }
        return UnkeyedDecodedValues(values: values, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    /// Decodes a value as a whole.
    static func decode<Content: Decodable>(
        _ type: Content.Type,
        from value: Value
    ) throws(TupleCodingError) -> Content {
        do {
            return try ValueDecoder(value: value, codingPath: []).decode(type)
        } catch let error as TupleCodingError {
            throw error
        } catch {
            throw TupleCodingError(codable: error)
        }
    }

    /// The error for two names that a `Dictionary` treats as equal: it decodes itself, and would keep only the last.
    private func collision(of name: String) -> DecodingError {
        .dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription:
                    "two names are equal to a Dictionary: \(name.debugDescription); read the object as a Record"
            )
        )
    }

    fileprivate func mismatch(_ expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath,
            debugDescription: "expected \(expected), found \(value.kindName)"
        )
        return .typeMismatch(Value.self, context)
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .bool(let value) = value else { throw mismatch("a bool") }
        return value
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .string(let value) = value else { throw mismatch("a string") }
        return value
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .double(let value): return value
        case .int(let integer):
            guard let value = Double(exactly: integer) else { throw mismatch("a number that a double holds exactly") }
            return value
        default: throw mismatch("a number")
        }
    }

    /// Rounds like `Float(_:)`, but refuses a finite number that would become infinite.
    func decode(_ type: Float.Type) throws -> Float {
        let value = try decode(Double.self)
        let rounded = Float(value)
        guard rounded.isFinite || !value.isFinite else { throw mismatch("a number that fits a Float") }
        return rounded
    }

    private func integer<Integer: FixedWidthInteger>() throws -> Integer {
        guard case .int(let value) = value else { throw mismatch("an integer") }
        guard let result = Integer(exactly: value) else { throw mismatch("an integer that fits \(Integer.self)") }
        return result
    }

    func decode(_ type: Int.Type) throws -> Int { try integer() }
    func decode(_ type: Int8.Type) throws -> Int8 { try integer() }
    func decode(_ type: Int16.Type) throws -> Int16 { try integer() }
    func decode(_ type: Int32.Type) throws -> Int32 { try integer() }
    func decode(_ type: Int64.Type) throws -> Int64 { try integer() }
    func decode(_ type: Int128.Type) throws -> Int128 { try integer() }
    func decode(_ type: UInt.Type) throws -> UInt { try integer() }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try integer() }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try integer() }

    func decode<Content: Decodable>(_ type: Content.Type) throws -> Content {
        if type == Value.self, let result = value as? Content { return result }
        switch value {
        case .object(let record):
            if type == Record.self, let result = record as? Content { return result }
            if let name = record.nameTakenForAnother, type is any StringKeyed.Type { throw collision(of: name) }
        case .uuid(let uuid):
            if type == TupleUUID.self, let result = uuid as? Content { return result }
        case .bytes(let bytes):
            if type == [UInt8].self, let result = bytes as? Content { return result }
        default: break
        }
        // A value made in this process can be deeper than a decoded one.
        guard codingPath.count <= TupleLimits.maximumDepth else { throw TupleCodingError.tooDeep(at: codingPath) }
        return try Content(from: self)
    }
}

/// A dictionary whose keys are names.
private protocol StringKeyed {}
extension Dictionary: StringKeyed where Key == String {}

// MARK: Containers

private struct UnkeyedDecodedValues: UnkeyedDecodingContainer {
    let values: [Value]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    var count: Int? { values.count }
    var isAtEnd: Bool { currentIndex == values.count }

    /// Decodes the next element; advances only if that succeeds, as the protocol requires.
    private mutating func next<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
        let path = codingPath + [PathKey(intValue: currentIndex)]
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Value.self,
                DecodingError.Context(codingPath: path, debugDescription: "the array has no more elements")
            )
        }
        let result = try body(ValueDecoder(value: values[currentIndex], codingPath: path))
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd else { return try next { _ in false } }
        guard values[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Content: Decodable>(_ type: Content.Type) throws -> Content {
        try next { try $0.decode(type) }
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try next { $0 }
    }
}

private struct KeyedDecodedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let record: Record
    let codingPath: [any CodingKey]

    var allKeys: [Key] { record.names.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { record[key.stringValue] != nil }

    private func decoder(for key: some CodingKey) throws -> ValueDecoder {
        guard let value = record[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key,
                DecodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "there is no field \(key.stringValue.debugDescription)"
                )
            )
        }
        return ValueDecoder(value: value, codingPath: codingPath + [key])
    }

    func decodeNil(forKey key: Key) throws -> Bool { try decoder(for: key).decodeNil() }

    func decode<Content: Decodable>(_ type: Content.Type, forKey key: Key) throws -> Content {
        try decoder(for: key).decode(type)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(for: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(for: PathKey(stringValue: "super")) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key) }
}

extension Value {
    /// The name of the kind, for messages.
    fileprivate var kindName: String {
        switch self {
        case .null: "null"
        case .bytes: "bytes"
        case .string: "a string"
        case .array: "an array"
        case .int(let value): "the integer \(value)"
        case .double(let value): "the double \(value)"
        case .bool: "a bool"
        case .uuid: "a UUID"
        case .object: "an object"
        }
    }
}
