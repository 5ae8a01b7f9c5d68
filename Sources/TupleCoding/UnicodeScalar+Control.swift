extension Unicode.Scalar {
    /// Whether the character could move a cursor, end a line or reorder text: C0, DEL, C1, the line and paragraph
    /// separators, and the bidirectional controls.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The escape for a control character in JSON.
    package var escaped: String {
        switch self {
        case "\n": "\\n"
        case "\t": "\\t"
        case "\r": "\\r"
        default:
            // No control character has more than four digits.
            "\\u" + String(String(0x10000 + value, radix: 16).dropFirst())
        }
    }
}
