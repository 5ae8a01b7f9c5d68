/// Makes values from parsed nodes.
struct JSONReader {
    let parser: JSONParser

    func error(_ code: TupleCodingError.Code, _ reason: String, at offset: Int) -> TupleCodingError {
        parser.error(code, reason, at: offset)
    }

    /// The value that a node represents; strings that begin with `?` are plain strings here.
    func value(_ node: JSONNode) throws(TupleCodingError) -> Value {
        switch node.content {
        case .null: return .null
        case .bool(let value): return .bool(value)
        case .int(let value): return .int(value)
        case .double(let value): return .double(value)
        case .string(let value): return .string(value)
        case .argument(let value): return value
        case .array(let nodes):
            var values: [Value] = []
            values.reserveCapacity(nodes.count)
            for node in nodes { values.append(try value(node)) }
            return .array(values)
        case .object(let members):
            switch try special(members) {
            case .value(let value): return value
            case .escaped(let name): return .object(Record(sorted: [(name, try value(members[0].value))]))
            case nil:
                var elements: [Record.Element] = []
                elements.reserveCapacity(members.count)
                for member in members { elements.append((member.name, try value(member.value))) }
                return .object(Record(sorted: elements))
            }
        }
    }

    /// The meaning of an object whose only name begins with `$`, or `nil` for any other object.
    func special(_ members: [JSONMember]) throws(TupleCodingError) -> JSONSpecial? {
        guard members.count == 1, !parser.isForeign, let member = members.first,
            member.name.utf8.first == UInt8(ascii: "$")
        else {
            return nil
        }
        if member.name.utf8.dropFirst().first == UInt8(ascii: "$") { return .escaped(String(member.name.dropFirst())) }
        let text: String
        switch member.name {
        case "$base64", "$uuid", "$double":
            guard case .string(let string) = member.value.content else {
                throw error(.syntax, "expected a string for \(member.name)", at: member.value.offset)
            }
            text = string
        default:
            throw error(
                .syntax,
                "unknown form \(member.name.debugDescription); an object whose only name begins with $ is written with $$",
                at: member.offset
            )
        }
        switch member.name {
        case "$base64":
            if let bytes = Base64.decode(text) { return .value(.bytes(bytes)) }
            throw error(.syntax, "expected base64 with its padding", at: member.value.offset)
        case "$uuid":
            if let uuid = TupleUUID(text) { return .value(.uuid(uuid)) }
            throw error(
                .syntax,
                "expected a UUID such as 01234567-89ab-cdef-0123-456789abcdef",
                at: member.value.offset
            )
        default:
            switch text {
            case "nan": return .value(.double(.nan))
            case "inf": return .value(.double(.infinity))
            case "-inf": return .value(.double(-.infinity))
            default: throw error(.syntax, "expected \"nan\", \"inf\" or \"-inf\"", at: member.value.offset)
            }
        }
    }
}

/// The meaning of an object whose only name begins with `$`.
enum JSONSpecial {
    case value(Value)
    /// An object whose only name is this one, from which one `$` is removed already.
    case escaped(String)
}
