/// Writes JSON text on one line, without spaces, and with names in the order of their bytes; so equal values give equal
/// text.
struct JSONWriter {
    private(set) var text: [UInt8] = []

    /// Whether the text is a template's, in which a leading `?` would make a string a formal.
    var forTemplate = false

    var string: String { String(decoding: text, as: UTF8.self) }

    mutating func write(raw: String) {
        text.append(contentsOf: raw.utf8)
    }

    mutating func write(_ value: Value) {
        switch value {
        case .null: write(raw: "null")
        case .bool(let value): write(raw: value ? "true" : "false")
        case .int(let value): write(raw: String(value))
        case .double(let value): write(value)
        case .string(let value): write(forTemplate && value.utf8.first == UInt8(ascii: "?") ? "?" + value : value)
        case .bytes(let bytes):
            write(raw: #"{"$base64":""#)
            Base64.encode(bytes, into: &text)
            write(raw: #""}"#)
        case .uuid(let uuid): write(raw: #"{"$uuid":"\#(uuid)"}"#)
        case .array(let values): writeArray(values) { $0.write($1) }
        case .object(let record): writeObject(record) { $0.write($1.value) }
        }
    }

    /// Writes a double so that reading the text gives the same double.
    ///
    /// `description` is the shortest such text, and always has a point or an exponent, so it is not read as an integer.
    /// All NaNs are written the same way.
    private mutating func write(_ value: Double) {
        if value.isFinite {
            write(raw: value.description)
        } else {
            write(raw: #"{"$double":"\#(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf")"}"#)
        }
    }

    /// Writes a string in quotes.
    ///
    /// Characters that could move a terminal's cursor or reorder its text are escaped, which no reader notices.
    mutating func write(_ string: String) {
        text.append(UInt8(ascii: "\""))
        var string = string
        string.withUTF8 { write(content: UnsafeRawBufferPointer($0)) }
        text.append(UInt8(ascii: "\""))
    }

    /// Writes the content of a string, which is valid UTF-8: what needs no escape in one piece.
    private mutating func write(content bytes: UnsafeRawBufferPointer) {
        var (written, position) = (0, 0)
        while position < bytes.count {
            let byte = bytes[position]
            if byte >= 0x20, byte < 0x7f || byte > 0xe2, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                position += 1
                continue
            }
            let (length, escape) = Self.escape(bytes, at: position)
            if let escape {
                text.append(contentsOf: bytes[written..<position])
                write(raw: escape)
                written = position + length
            }
            position += length
        }
        text.append(contentsOf: bytes[written...])
    }

    /// The number of bytes of the character at a position, and its escape if it needs one.
    private static func escape(_ bytes: UnsafeRawBufferPointer, at position: Int) -> (Int, String?) {
        let byte = bytes[position]
        switch byte {
        case UInt8(ascii: "\""): return (1, #"\""#)
        case UInt8(ascii: "\\"): return (1, #"\\"#)
        case 0x08: return (1, #"\b"#)
        case 0x09: return (1, #"\t"#)
        case 0x0a: return (1, #"\n"#)
        case 0x0c: return (1, #"\f"#)
        case 0x0d: return (1, #"\r"#)
        case 0x00...0x1f, 0x7f: return (1, (byte < 0x10 ? #"\u000"# : #"\u00"#) + String(byte, radix: 16))
        // The first bytes of the control characters beyond ASCII: U+0080 to U+009F, U+061C, U+200E to U+2069.
        case 0xc2, 0xd8, 0xe2:
            let length = byte == 0xe2 ? 3 : 2
            let scalar = String(decoding: bytes[position..<position + length], as: UTF8.self).unicodeScalars.first
            return (length, scalar.flatMap { $0.isControl ? $0.escaped : nil })
        default: return (1, nil)
        }
    }

    mutating func writeArray<Element>(_ elements: [Element], _ write: (inout JSONWriter, Element) -> Void) {
        text.append(UInt8(ascii: "["))
        var isFirst = true
        for element in elements {
            if !isFirst { text.append(UInt8(ascii: ",")) }
            isFirst = false
            write(&self, element)
        }
        text.append(UInt8(ascii: "]"))
    }

    /// Writes an object; if it has only one name and this begins with `$`, another `$` is written before it.
    mutating func writeObject(_ record: Record, _ write: (inout JSONWriter, Record.Element) -> Void) {
        writeObject(names: record.names) { writer, position in write(&writer, record[position]) }
    }

    mutating func writeObject(names: [String], _ write: (inout JSONWriter, Int) -> Void) {
        text.append(UInt8(ascii: "{"))
        for (position, name) in names.enumerated() {
            if position > 0 { text.append(UInt8(ascii: ",")) }
            self.write(names.count == 1 && name.utf8.first == UInt8(ascii: "$") ? "$" + name : name)
            text.append(UInt8(ascii: ":"))
            write(&self, position)
        }
        text.append(UInt8(ascii: "}"))
    }
}
