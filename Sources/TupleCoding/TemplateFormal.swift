/// A formal in the JSON form: a string that begins with `?`.
enum TemplateFormal {
    case string(String)
    case type(FieldType)
    case range(FieldRange)
    case pattern(Pattern)
    /// The fields or elements that are left.
    case remaining

    static let rest = "?..."

    private static let types: [(word: String, type: FieldType)] = [
        ("", .any), ("int", .int), ("double", .double), ("string", .string), ("bool", .bool), ("bytes", .bytes),
        ("uuid", .uuid), ("array", .array), ("object", .object),
    ]

    /// Reads a string that begins with `?`.
    init(_ text: String, at offset: Int, in json: JSONReader) throws(TupleCodingError) {
        do {
            self = try Self.parse(text)
        } catch {
            throw json.error(error.code, error.reason, at: offset)
        }
    }

    private static func parse(_ text: String) throws(TupleCodingError) -> TemplateFormal {
        // The bytes are split, not the characters: "?" and a combining mark after it would be one character.
        let word = String(decoding: text.utf8.dropFirst(), as: UTF8.self)
        if word.compareUTF8("...") == 0 { return .remaining }
        if word.utf8.first == UInt8(ascii: "?") { return .string(word) }
        if word.utf8.first == UInt8(ascii: "/") { return .pattern(try pattern(word)) }
        if let (_, type) = types.first(where: { $0.word.compareUTF8(word) == 0 }) { return .type(type) }
        if let range = try range(word) { return .range(range) }
        throw TupleCodingError(
            .formal,
            "unknown formal \(text.debugDescription); a string that begins with ? is written with ??"
        )
    }

    private static func pattern(_ word: String) throws(TupleCodingError) -> Pattern {
        let utf8 = Array(word.utf8)
        guard utf8.count >= 2, utf8.last == UInt8(ascii: "/") else {
            throw TupleCodingError(.formal, "a regular expression ends with /, and nothing follows it")
        }
        return try Pattern(String(decoding: utf8[1..<utf8.count - 1], as: UTF8.self))
    }

    /// Reads a range; `nil` if the word is not a range.
    private static func range(_ word: String) throws(TupleCodingError) -> FieldRange? {
        let utf8 = Array(word.utf8)
        let dot = UInt8(ascii: ".")
        let places = utf8.indices.filter { index in
            index + 2 < utf8.count && utf8[index] == dot && utf8[index + 1] == dot
                && (utf8[index + 2] == dot || utf8[index + 2] == UInt8(ascii: "<"))
        }
        guard let place = places.first else { return nil }
        guard places.count == 1 else {
            throw TupleCodingError(.formal, "it isn't clear where the bounds of the range meet")
        }
        let isClosed = utf8[place + 2] == dot
        let lower = RangeBound(utf8[..<place])
        let upper = RangeBound(utf8[(place + 3)...])
        let range: FieldRange
        switch (lower, upper) {
        case (nil, nil):
            throw TupleCodingError(.formal, "a range without bounds; \"?\" matches anything")
        case (.beyond, _), (_, .beyond):
            throw TupleCodingError(.integerOutOfRange, "a bound of the range is beyond 64 bits")
        default:
            let bounds = [lower, upper].compactMap(\.self)
            if bounds.allSatisfy({ $0.int != nil }) {
                range = FieldRange(bounds: .int(lower: lower?.int, upper: upper?.int), isClosed: isClosed)
            } else if bounds.allSatisfy({ $0.double != nil }) {
                range = .doubles(lower: lower?.double, upper: upper?.double, isClosed: isClosed)
            } else {
                range = .strings(lower: lower?.text, upper: upper?.text, isClosed: isClosed)
            }
        }
        guard !range.isReversed else {
            throw TupleCodingError(.formal, "the bounds of the range are the wrong way round")
        }
        return range
    }

    func append(to builder: inout TemplateBuilder) {
        switch self {
        case .string(let string): builder.appendActual(string)
        case .type(let type): builder.appendFormal(type)
        case .range(let range): builder.appendRange(range)
        case .pattern(let pattern): builder.appendPattern(pattern)
        case .remaining: builder.appendRest()
        }
    }
}

/// One bound of a range in the JSON form.
private enum RangeBound {
    case int(Int, text: String)
    case double(Double, text: String)
    case string(String)
    /// An integer that Int can't hold.
    case beyond

    /// Reads a bound; `nil` for no bytes.
    init?(_ bytes: ArraySlice<UInt8>) {
        if bytes.isEmpty { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let bytes = Array(bytes)
        var index = 0
        guard let isInteger = JSONParser.scanNumber(bytes, &index), index == bytes.count else {
            self = .string(text)
            return
        }
        if isInteger {
            self = Int(text).map { .int($0, text: text) } ?? .beyond
        } else {
            // A number beyond the finite doubles is infinity; it has no other word, because "inf" is a string.
            self = Double(text).map { .double($0, text: text) } ?? .beyond
        }
    }

    var int: Int? {
        if case .int(let value, _) = self { value } else { nil }
    }

    /// The bound as a double, if it is a number.
    var double: Double? {
        switch self {
        case .int(let value, _): Double(value)
        case .double(let value, _): value
        case .string, .beyond: nil
        }
    }

    var text: String {
        switch self {
        case .int(_, let text), .double(_, let text), .string(let text): text
        case .beyond: ""
        }
    }
}

// MARK: Writing

extension TemplateFormal {
    /// The word for a type, or for the nearest wider type that has a word.
    static func text(for type: FieldType) -> String {
        switch type {
        case .any, .null, .tuple, .optional: "?"
        case .bytes: "?bytes"
        case .string: "?string"
        case .array, .arrayOf: "?array"
        case .int: "?int"
        case .double: "?double"
        case .bool: "?bool"
        case .uuid: "?uuid"
        case .object, .objectOf: "?object"
        case .integers(let range): "?\(range.lowerBound)...\(range.upperBound)"
        }
    }

    /// The text of a range, or the word for its type if that text has another meaning.
    static func text(for range: FieldRange) -> String {
        let lower: String
        let upper: String
        let word: String
        switch range.bounds {
        case .int(let low, let high):
            (lower, upper, word) = (low.map { String($0) } ?? "", high.map { String($0) } ?? "", "?int")
        case .double(let low, let high):
            let text = { (bits: UInt64?) in bits.map { Self.text(for: Double(orderedBits: $0)) } ?? "" }
            (lower, upper, word) = (text(low), text(high), "?double")
        case .string(let low, let high):
            let text = { (bytes: [UInt8]?) -> String in
                bytes?.withUnsafeBytes { bytes in
                    var decoder = TupleDecoder(bytes)
                    return try? decoder.decodeString()
                } ?? ""
            }
            (lower, upper, word) = (text(low), text(high), "?string")
        }
        let text = "?" + lower + (range.isClosed ? "..." : "..<") + upper
        if case .range(let read)? = try? parse(text), read == range { return text }
        return word
    }

    private static func text(for bound: Double) -> String {
        guard bound.isInfinite else { return bound.description }
        return bound < 0 ? "-1e999" : "1e999"
    }
}
