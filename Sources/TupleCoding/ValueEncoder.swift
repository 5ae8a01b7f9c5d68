/// Turns Codable values into values: structs into objects, arrays into arrays.
///
/// `[UInt8]` becomes bytes, and ``Value``, ``Record`` and ``TupleUUID`` become what they are; a nil property is left
/// out, as the compiler's `encode(to:)` does. Other types come as they encode themselves: Foundation's `UUID` and `URL`
/// as strings, `Date` as a double, `Data` as an array of integers.
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
    static func encode(_ value: some Encodable) throws(TupleCodingError) -> Value {
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

/// What one container has written so far; a class, since containers are handed out before they are filled.
final class EncodedNode {
    enum Kind {
        case none
        case value
        case array
        case object
    }

    private var kind = Kind.none
    private var value = Value.null
    private var names: [String] = []
    private(set) var children: [EncodedNode] = []

    func become(_ kind: Kind) {
        self.kind = kind
    }

    func set(_ value: Value) {
        kind = .value
        self.value = value
    }

    /// Adds an element, or a member.
    func append(_ name: String? = nil) -> EncodedNode {
        if let name { names.append(name) }
        let child = EncodedNode()
        children.append(child)
        return child
    }

    /// The value of the whole, once everything is written; a type that wrote nothing is an empty object.
    func value(depth: Int) throws(TupleCodingError) -> Value {
        switch kind {
        case .value:
            guard !value.isNested(deeperThan: TupleLimits.maximumDepth - depth) else { throw .tooDeep() }
            return value
        case .none, .array, .object:
            // A container is a level itself.
            guard depth < TupleLimits.maximumDepth else { throw .tooDeep() }
        }
        switch kind {
        case .none, .value: return .object([:])
        case .array:
            var values: [Value] = []
            values.reserveCapacity(children.count)
            for child in children { values.append(try child.value(depth: depth + 1)) }
            return .array(values)
        case .object:
            // The last one written under a name counts, as with other encoders.
            let order = names.indices.sorted { left, right in
                let order = names[left].compareUTF8(names[right])
                return order != 0 ? order < 0 : left < right
            }
            var elements: [Record.Element] = []
            elements.reserveCapacity(order.count)
            for index in order {
                if let last = elements.last, last.name.compareUTF8(names[index]) == 0 { elements.removeLast() }
                elements.append((names[index], try children[index].value(depth: depth + 1)))
            }
            return .object(Record(sorted: elements))
        }
    }
}

extension EncodedNode {
    /// Writes a scalar, or hands itself to what encodes itself.
    func write<Content: Encodable>(_ content: Content, at codingPath: [any CodingKey]) throws {
        switch content {
        case let value as Value: set(value)
        case let record as Record: set(.object(record))
        case let uuid as TupleUUID: set(.uuid(uuid))
        case let value as Int: set(.int(value))
        case let value as String: set(.string(value))
        case let value as Double: set(.double(value))
        case let value as Bool: set(.bool(value))
        default:
            if Content.self == [UInt8].self, let bytes = content as? [UInt8] {
                set(.bytes(bytes))
                return
            }
            // Each level of an Encodable is a few frames of recursion in foreign code.
            guard codingPath.count <= TupleLimits.maximumDepth else {
                throw TupleCodingError.tooDeep(at: codingPath)
            }
            try content.encode(to: ValueEncoder(node: self, codingPath: codingPath))
        }
    }

    func write(integer: some BinaryInteger, at codingPath: [any CodingKey]) throws {
        guard let value = Int(exactly: integer) else {
            let context = EncodingError.Context(codingPath: codingPath, debugDescription: "an integer beyond 64 bits")
            throw EncodingError.invalidValue(integer, context)
        }
        set(.int(value))
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

/// A place in an array, or a name that no type has a key for.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        stringValue = String(intValue)
        self.intValue = intValue
    }
}
