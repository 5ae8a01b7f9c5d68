/// The content that one container has written so far; it is a class, because containers are handed out before they are
/// filled.
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

    /// The value of the node and its children, once everything is written; if a type wrote nothing, it is an empty
    /// object.
    func value(depth: Int) throws(TupleCodingError) -> Value {
        switch kind {
        case .value:
            guard !value.isNested(deeperThan: TupleLimits.maximumDepth - depth) else { throw .tooDeep() }
            return value
        case .none, .array, .object:
            // The container itself is a level.
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
            // If a name was written twice, the last value counts, as with other encoders.
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
    /// Writes a scalar, or lets the content encode itself into this node.
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
            // Each level takes a few frames of recursion in the code of Encodable types, so the depth is bounded here.
            guard codingPath.count <= TupleLimits.maximumDepth else {
                throw TupleCodingError.tooDeep(at: codingPath)
            }
            try content.encode(to: ValueEncoder(node: self, codingPath: codingPath))
        }
    }

    func write(integer: some BinaryInteger, at codingPath: [any CodingKey]) throws {
        guard let value = Int(exactly: integer) else {
            let reason = "\(integer) is outside the range of Int64; no other integers are kept"
            let context = EncodingError.Context(codingPath: codingPath, debugDescription: reason)
            throw EncodingError.invalidValue(integer, context)
        }
        set(.int(value))
    }
}
