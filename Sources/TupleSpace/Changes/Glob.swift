/// A pattern for names: `*` stands for any text, `?` for one character, `\` makes the next character stand for itself.
///
/// A name is compared as UTF-8. A dot is a character like any other, and a character is one Unicode scalar.
package struct Glob: Sendable {
    private enum Part: Sendable {
        case byte(UInt8)
        case character
        case text
    }

    private let parts: [Part]

    package init(_ pattern: String) {
        var parts: [Part] = []
        var isEscaped = false
        for byte in pattern.utf8 {
            switch byte {
            case _ where isEscaped:
                parts.append(.byte(byte))
                isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = true
            case UInt8(ascii: "*"): parts.append(.text)
            case UInt8(ascii: "?"): parts.append(.character)
            default: parts.append(.byte(byte))
            }
        }
        // A last backslash stands for itself.
        if isEscaped { parts.append(.byte(UInt8(ascii: "\\"))) }
        self.parts = parts
    }

    /// Whether a name matches.
    ///
    /// - Complexity: O(pattern × name) at worst.
    package func matches(_ name: UnsafeRawBufferPointer) -> Bool {
        var (part, index) = (0, 0)
        // The last `*`, and the length of the name up to the end of its text.
        var star: (part: Int, end: Int)?
        while index < name.count {
            if part < parts.count {
                switch parts[part] {
                case .text:
                    star = (part, index)
                    part += 1
                    continue
                case .character:
                    part += 1
                    index += 1
                    while index < name.count, name[index] & 0xC0 == 0x80 { index += 1 }
                    continue
                case .byte(let byte):
                    if byte == name[index] {
                        part += 1
                        index += 1
                        continue
                    }
                }
            }
            // The text of the last `*` becomes one byte longer.
            guard let last = star else { return false }
            star = (last.part, last.end + 1)
            (part, index) = (last.part + 1, last.end + 1)
        }
        return parts[part...].allSatisfy { if case .text = $0 { true } else { false } }
    }
}
