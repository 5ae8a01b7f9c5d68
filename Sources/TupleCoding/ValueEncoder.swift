/// Turns instances of Codable types into values: a struct into an object, an array into an array.
///
/// `[UInt8]` becomes bytes, and ``Value``, ``Record`` and ``TupleUUID`` keep their kind. A `nil` property is left out,
/// because the compiler's `encode(to:)` skips it. Every other type encodes itself: Foundation's `UUID` and `URL` become
/// strings, `Date` a double, and `Data` an array of integers.
struct ValueEncoder: Encoder {
    let node: EncodedNode
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        node.become(.object)
        return KeyedEncodingContainer(KeyedValues<Key>(node: node, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        node.become(.array)
        return UnkeyedValues(node: node, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValue(node: node, codingPath: codingPath)
    }

    /// Encodes a value as a whole.
    static func encode<Content: Encodable>(_ value: Content) throws(TupleCodingError) -> Value {
        if let plain = plain(value) {
            guard !plain.isNested(deeperThan: TupleLimits.maximumDepth) else { throw .tooDeep() }
            return plain
        }
        let node = EncodedNode()
        do {
            try SingleValue(node: node, codingPath: []).write(value)
        } catch let error as TupleCodingError {
            throw error
        } catch {
            throw TupleCodingError(codable: error)
        }
        return try node.value(depth: 0)
    }
}

extension ValueEncoder {
    /// What needs no container: a value, or one of the most frequent scalars.
    ///
    /// The comparisons of types come first, because a cast that fails takes as long as one that succeeds.
    private static func plain<Content>(_ content: Content) -> Value? {
        if Content.self == Value.self { return content as? Value }
        if Content.self == Int.self { return (content as? Int).map { .int($0) } }
        if Content.self == Double.self { return (content as? Double).map { .double($0) } }
        if Content.self == String.self { return (content as? String).map { .string($0) } }
        if Content.self == Bool.self { return (content as? Bool).map { .bool($0) } }
        return nil
    }
}

// MARK: Containers

private struct SingleValue: SingleValueEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func write(_ value: some Encodable) throws { try node.write(value, at: codingPath) }

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) { node.set(.double(value)) }
    func encode(_ value: Float) { node.set(.double(Double(value))) }
    func encode(_ value: Int) { node.set(.int(value)) }
    func encode(_ value: Int8) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: Int16) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: Int32) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: Int64) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: Int128) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: UInt) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: UInt8) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: UInt16) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: UInt32) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: UInt64) throws { try node.write(integer: value, at: codingPath) }
    func encode(_ value: UInt128) throws { try node.write(integer: value, at: codingPath) }
    func encode<Content: Encodable>(_ value: Content) throws { try write(value) }
}

private struct UnkeyedValues: UnkeyedEncodingContainer {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    var count: Int { node.children.count }

    private func next() -> (EncodedNode, [any CodingKey]) {
        let path = codingPath + [PathKey(intValue: count)]
        return (node.append(), path)
    }

    func encodeNil() { node.append().set(.null) }

    func encode<Content: Encodable>(_ value: Content) throws {
        let (child, path) = next()
        try child.write(value, at: path)
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        let (child, path) = next()
        return ValueEncoder(node: child, codingPath: path).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let (child, path) = next()
        return ValueEncoder(node: child, codingPath: path).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        let (child, path) = next()
        return ValueEncoder(node: child, codingPath: path)
    }
}

private struct KeyedValues<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: EncodedNode
    let codingPath: [any CodingKey]

    func encodeNil(forKey key: Key) { node.append(key.stringValue).set(.null) }

    func encode<Content: Encodable>(_ value: Content, forKey key: Key) throws {
        try node.append(key.stringValue).write(value, at: codingPath + [key])
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(for: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(for: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { encoder(for: PathKey(stringValue: "super")) }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key) }

    private func encoder(for key: some CodingKey) -> ValueEncoder {
        ValueEncoder(node: node.append(key.stringValue), codingPath: codingPath + [key])
    }
}
