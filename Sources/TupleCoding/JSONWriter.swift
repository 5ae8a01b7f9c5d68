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
        defer { text.append(UInt8(ascii: "\"")) }
        // The first bytes of the control characters beyond ASCII: U+0080 to U+009F, U+061C, U+200E to U+2069.
        guard !string.utf8.contains(where: { $0 == 0xC2 || $0 == 0xD8 || $0 == 0xE2 }) else {
            for scalar in string.unicodeScalars {
                if scalar.isASCII {
                    write(byte: UInt8(scalar.value))
                } else if scalar.isControl {
                    write(raw: scalar.escaped)
                } else {
                    text.append(contentsOf: String(scalar).utf8)
                }
            }
            return
        }
        for byte in string.utf8 { write(byte: byte) }
    }

    /// Writes a byte of a string.
    private mutating func write(byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            text.append(UInt8(ascii: "\\"))
            text.append(byte)
        case 0x08: write(raw: #"\b"#)
        case 0x09: write(raw: #"\t"#)
        case 0x0a: write(raw: #"\n"#)
        case 0x0c: write(raw: #"\f"#)
        case 0x0d: write(raw: #"\r"#)
        case 0x00...0x1f, 0x7f:
            write(raw: byte < 0x10 ? #"\u000"# : #"\u00"#)
            write(raw: String(byte, radix: 16))
        default: text.append(byte)
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
