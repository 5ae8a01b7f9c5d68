/// JSON text as it was parsed: each value with its place, so that later errors can name it.
struct JSONNode {
    enum Content {
        case null
        case bool(Bool)
        case int(Int)
        case double(Double)
        case string(String)
        case array([JSONNode])
        case object([JSONMember])
        /// A bare `$NAME`, replaced by its value.
        case argument(Value)
    }

    let content: Content

    /// The byte of the text at which the value begins.
    let offset: Int
}

/// A name and its value in JSON text.
struct JSONMember {
    let name: String
    let value: JSONNode
    /// The byte of the text at which the name begins.
    let offset: Int
}

/// What an object with one name that begins with `$` stands for.
enum JSONSpecial {
    case value(Value)
    /// An object whose only name is this, with one `$` removed.
    case escaped(String)
}

/// Reads values out of parsed nodes.
struct JSONReader {
    let parser: JSONParser

    func error(_ code: TupleCodingError.Code, _ reason: String, at offset: Int) -> TupleCodingError {
        parser.error(code, reason, at: offset)
    }

    /// The value that a node stands for; strings that begin with `?` are strings.
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

    /// What an object stands for whose only name begins with `$`; nil for every other.
    func special(_ members: [JSONMember]) throws(TupleCodingError) -> JSONSpecial? {
        guard members.count == 1, let member = members.first, member.name.utf8.first == UInt8(ascii: "$") else {
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

/// Base64 as RFC 4648 has it: the standard alphabet, padded, with nothing else between.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8], into text: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let taken = min(3, bytes.count - index)
            var group = UInt32(bytes[index]) << 16
            if taken > 1 { group |= UInt32(bytes[index + 1]) << 8 }
            if taken > 2 { group |= UInt32(bytes[index + 2]) }
            for position in 0..<4 {
                let digit = alphabet[Int(group >> UInt32(18 - 6 * position) & 63)]
                text.append(position <= taken ? digit : UInt8(ascii: "="))
            }
            index += taken
        }
    }

    /// The bytes, or nil for what `encode` would not have written.
    static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count % 4 == 0 else { return nil }
        let padding = digits.suffix(2).filter { $0 == UInt8(ascii: "=") }.count
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 4 * 3)
        var index = 0
        while index < digits.count {
            let isLast = index + 4 == digits.count
            let count = isLast ? 4 - padding : 4
            var group: UInt32 = 0
            for position in 0..<4 {
                let byte = digits[index + position]
                if position < count {
                    guard let digit = digit(byte) else { return nil }
                    group = group << 6 | digit
                } else {
                    guard byte == UInt8(ascii: "=") else { return nil }
                    group <<= 6
                }
            }
            // RFC 4648, section 3.5: bits that pad the last group are zero.
            guard group & (1 << UInt32((4 - count) * 8) - 1) == 0 else { return nil }
            for position in 0..<count - 1 {
                bytes.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * position)))
            }
            index += 4
        }
        return bytes
    }

    private static func digit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
