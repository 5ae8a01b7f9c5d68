/// Parses JSON text (RFC 8259) strictly.
///
/// It is stricter than most parsers: it refuses duplicate names, lone surrogates, a byte order mark, and integers
/// beyond 64 bits. It accepts one extension: outside strings, `$NAME` is the value of that argument. A number is an
/// integer or a double depending on its spelling.
struct JSONParser {
    private let text: [UInt8]
    private let arguments: [String: Value]
    private var index = 0
    private var depth = 0

    /// How many arrays and objects may enclose each other.
    ///
    /// The number is two more than the limit of a field, because two levels of the text are not levels of the encoding:
    /// a tuple's own array, and the braces of bytes and other special values. Encoding refuses a value that is still
    /// too deep.
    private let maximumDepth: Int

    /// Whether the text is another program's JSON, which is read as most parsers read it.
    let isForeign: Bool

    /// - Parameters:
    ///   - text: The text, in UTF-8.
    ///   - arguments: The values of bare `$NAME` in the text.
    ///   - wrapping: How many arrays and objects may enclose the values in the text.
    ///   - isForeign: Whether the text is another program's: then `$` has no meaning, of members with one name the last
    ///     counts, a lone surrogate becomes U+FFFD, and an integer beyond 64 bits a double.
    init(_ text: [UInt8], arguments: [String: Value], wrapping: Int = 0, isForeign: Bool = false) {
        self.text = text
        self.arguments = arguments
        self.isForeign = isForeign
        maximumDepth = TupleLimits.maximumDepth + 2 + wrapping
    }

    /// Parses the whole text as one value.
    mutating func parse() throws(TupleCodingError) -> JSONNode {
        if text.starts(with: [0xef, 0xbb, 0xbf]) { throw error(.syntax, "a byte order mark begins the text", at: 0) }
        if let offset = text.withUnsafeBytes({ $0.firstInvalidUTF8() }) {
            throw error(.invalidUTF8, "the text is not UTF-8", at: offset)
        }
        let node = try parseValue()
        skipSpace()
        guard index == text.count else { throw unexpected("nothing after the value") }
        return node
    }

    private mutating func parseValue() throws(TupleCodingError) -> JSONNode {
        skipSpace()
        let start = index
        let content: JSONNode.Content
        guard let byte else { throw unexpected("a value") }
        switch byte {
        case UInt8(ascii: "n"):
            try parseWord("null")
            content = .null
        case UInt8(ascii: "t"):
            try parseWord("true")
            content = .bool(true)
        case UInt8(ascii: "f"):
            try parseWord("false")
            content = .bool(false)
        case UInt8(ascii: "\""): content = .string(try parseString())
        case UInt8(ascii: "["): content = .array(try parseArray())
        case UInt8(ascii: "{"): content = .object(try parseObject())
        case UInt8(ascii: "$") where !isForeign: content = .argument(try parseArgument())
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): content = try parseNumber()
        default: throw unexpected("a value")
        }
        return JSONNode(content: content, offset: start)
    }

    // MARK: Containers

    private mutating func parseArray() throws(TupleCodingError) -> [JSONNode] {
        try open()
        var nodes: [JSONNode] = []
        skipSpace()
        if byte == UInt8(ascii: "]") {
            close()
            return nodes
        }
        while true {
            nodes.append(try parseValue())
            skipSpace()
            switch byte {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "]"):
                close()
                return nodes
            default: throw unexpected("\",\" or \"]\"")
            }
        }
    }

    /// Parses an object; its members are sorted by name.
    private mutating func parseObject() throws(TupleCodingError) -> [JSONMember] {
        try open()
        var members: [JSONMember] = []
        skipSpace()
        if byte == UInt8(ascii: "}") {
            close()
            return members
        }
        while true {
            skipSpace()
            let start = index
            guard byte == UInt8(ascii: "\"") else { throw unexpected("a name in quotation marks") }
            let name = try parseString()
            skipSpace()
            guard byte == UInt8(ascii: ":") else { throw unexpected("\":\"") }
            index += 1
            members.append(JSONMember(name: name, value: try parseValue(), offset: start))
            skipSpace()
            switch byte {
            case UInt8(ascii: ","): index += 1
            case UInt8(ascii: "}"):
                close()
                return try sorted(members)
            default: throw unexpected("\",\" or \"}\"")
            }
        }
    }

    private func sorted(_ members: [JSONMember]) throws(TupleCodingError) -> [JSONMember] {
        let members = members.sorted { left, right in
            let order = left.name.compareUTF8(right.name)
            return order != 0 ? order < 0 : left.offset < right.offset
        }
        func isLast(_ index: Int) -> Bool {
            index + 1 == members.count || members[index].name.compareUTF8(members[index + 1].name) != 0
        }
        guard let first = members.indices.first(where: { !isLast($0) }) else { return members }
        if isForeign { return members.indices.filter(isLast).map { members[$0] } }
        let later = members[first + 1]
        throw error(.duplicateName, "the name \(later.name.debugDescription) occurs twice", at: later.offset)
    }

    private mutating func open() throws(TupleCodingError) {
        guard depth < maximumDepth else {
            throw error(.tooDeep, "nested deeper than \(TupleLimits.maximumDepth) levels", at: index)
        }
        depth += 1
        index += 1
    }

    private mutating func close() {
        depth -= 1
        index += 1
    }

    // MARK: Scalars

    private mutating func parseWord(_ word: String) throws(TupleCodingError) {
        for expected in word.utf8 {
            guard byte == expected else { throw unexpected(word) }
            index += 1
        }
    }

    private mutating func parseNumber() throws(TupleCodingError) -> JSONNode.Content {
        let start = index
        guard let isInteger = Self.scanNumber(text, &index) else {
            throw error(.syntax, "a malformed number", at: start)
        }
        let digits = String(decoding: text[start..<index], as: UTF8.self)
        if isInteger {
            guard let value = Int(digits) else {
                if isForeign, let value = Double(digits), value.isFinite { return .double(value) }
                throw error(.integerOutOfRange, "an integer beyond 64 bits", at: start)
            }
            return .int(value)
        }
        guard let value = Double(digits), value.isFinite else {
            throw error(.syntax, "a number beyond the range of doubles", at: start)
        }
        return .double(value)
    }

    /// Moves `index` past the number there; returns whether its spelling is that of an integer, or `nil` if it is
    /// malformed.
    static func scanNumber(_ text: [UInt8], _ index: inout Int) -> Bool? {
        func digits(_ index: inout Int) -> Int {
            let start = index
            while index < text.count, text[index] &- UInt8(ascii: "0") < 10 { index += 1 }
            return index - start
        }
        var isInteger = true
        if index < text.count, text[index] == UInt8(ascii: "-") { index += 1 }
        let startsWithZero = index < text.count && text[index] == UInt8(ascii: "0")
        let count = digits(&index)
        guard count > 0, !startsWithZero || count == 1 else { return nil }
        if index < text.count, text[index] == UInt8(ascii: ".") {
            isInteger = false
            index += 1
            guard digits(&index) > 0 else { return nil }
        }
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            index += 1
            if index < text.count, text[index] == UInt8(ascii: "+") || text[index] == UInt8(ascii: "-") { index += 1 }
            guard digits(&index) > 0 else { return nil }
        }
        return isInteger
    }

    private mutating func parseArgument() throws(TupleCodingError) -> Value {
        let start = index
        index += 1
        while let byte, byte.isOfWord, index > start + 1 || !byte.isDigit { index += 1 }
        let name = String(decoding: text[start + 1..<index], as: UTF8.self)
        guard !name.isEmpty else { throw unexpected("the name of an argument") }
        guard let value = arguments[name] else {
            throw error(.argument, "no argument is called $\(name)", at: start)
        }
        return value
    }

    // MARK: Strings

    private mutating func parseString() throws(TupleCodingError) -> String {
        let start = index
        index += 1
        var content: [UInt8] = []
        var copied = index
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                let rest = text[copied..<index]
                index += 1
                if content.isEmpty { return String(decoding: rest, as: UTF8.self) }
                content.append(contentsOf: rest)
                return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                content.append(contentsOf: text[copied..<index])
                try parseEscape(into: &content)
                copied = index
            case 0x00...0x1f:
                throw error(.syntax, "a control character in a string; write it as an escape", at: index)
            default: skipPlain()
            }
        }
        throw error(.syntax, "a string without its end", at: start)
    }

    /// Moves past the bytes of a string that stand for themselves.
    private mutating func skipPlain() {
        let start = index
        index = text.withUnsafeBytes { bytes in
            var end = start
            while end < bytes.count, bytes[end] >= 0x20, bytes[end] != UInt8(ascii: "\""),
                bytes[end] != UInt8(ascii: "\\")
            { end += 1 }
            return end
        }
    }

    private mutating func parseEscape(into content: inout [UInt8]) throws(TupleCodingError) {
        let start = index
        index += 1
        guard let escape = byte else { throw unexpected("an escape") }
        index += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): content.append(escape)
        case UInt8(ascii: "b"): content.append(0x08)
        case UInt8(ascii: "f"): content.append(0x0c)
        case UInt8(ascii: "n"): content.append(0x0a)
        case UInt8(ascii: "r"): content.append(0x0d)
        case UInt8(ascii: "t"): content.append(0x09)
        case UInt8(ascii: "u"):
            var unit = try parseHexadecimal()
            if 0xd800...0xdbff ~= unit, byte == UInt8(ascii: "\\"), index + 1 < text.count,
                text[index + 1] == UInt8(ascii: "u")
            {
                let second = index
                index += 2
                let low = try parseHexadecimal()
                if 0xdc00...0xdfff ~= low {
                    unit = 0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)
                } else {
                    index = second
                }
            }
            // The initializer returns nil for a surrogate, because a surrogate is no scalar.
            guard let scalar = Unicode.Scalar(unit) ?? (isForeign ? "\u{FFFD}" : nil) else {
                throw error(.syntax, "a lone surrogate", at: start)
            }
            content.append(contentsOf: String(Character(scalar)).utf8)
        default:
            throw error(.syntax, "an unknown escape", at: start)
        }
    }

    private mutating func parseHexadecimal() throws(TupleCodingError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let byte, let digit = Self.hexadecimalDigit(byte) else {
                throw unexpected("four hexadecimal digits")
            }
            unit = unit << 4 | digit
            index += 1
        }
        return unit
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    // MARK: Text

    private var byte: UInt8? { index < text.count ? text[index] : nil }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private func unexpected(_ expected: String) -> TupleCodingError {
        guard let byte else { return error(.syntax, "expected \(expected), found the end", at: index) }
        let found =
            byte > 0x20 && byte < 0x7f
            ? "\"\(Unicode.Scalar(byte))\"" : byte < 0x80 ? "a control character" : "other text"
        return error(.syntax, "expected \(expected), found \(found)", at: index)
    }

    /// An error at a byte of the text; like editors, the column counts Unicode scalars.
    func error(_ code: TupleCodingError.Code, _ reason: String, at offset: Int) -> TupleCodingError {
        let before = text.prefix(offset)
        let line = before.count { $0 == 0x0a } + 1
        let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
        let column = before[start...].count { $0 & 0xc0 != 0x80 } + 1
        return TupleCodingError(code, reason, at: .text(line: line, column: column))
    }
}
