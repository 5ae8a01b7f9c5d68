/// The part of TOML that is needed to see whether a client's settings already name a server.
enum TOMLText {
    /// Whether a table, or a part of it, is defined in any form, or can't be added because an enclosing name has a
    /// plain value.
    ///
    /// Text that only looks like it counts too: then nothing is written.
    static func defines(_ path: [String], in text: String) -> Bool {
        var table: [String] = []
        var quotes: String?
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0.isWhitespace }
            let isInText = quotes != nil
            for mark in ["\"\"\"", "'''"] where quotes == nil || quotes == mark {
                // An odd number of marks begins or ends a text of several lines.
                if line.split(separator: mark, omittingEmptySubsequences: false).count.isMultiple(of: 2) {
                    quotes = quotes == nil ? mark : nil
                    break
                }
            }
            if isInText { continue }
            if line.hasPrefix("[") {
                table = names(in: line.drop { $0 == "[" }, until: "]")
                if table.starts(with: path) || line.hasPrefix("[[") && path.starts(with: table) { return true }
            } else if line.contains("="), !line.hasPrefix("#") {
                let full = table + names(in: line, until: "=")
                // A setting in the table or below it; or a plain value in the place of an enclosing table.
                if full.starts(with: path) || path.starts(with: full) { return true }
            }
        }
        return false
    }

    /// The names of a dotted key, bare or in quotation marks.
    private static func names(in text: Substring, until end: Character) -> [String] {
        var names = [""]
        var quote: Character?
        for character in text {
            if let open = quote {
                if character == open { quote = nil } else { names[names.count - 1].append(character) }
            } else if character == "\"" || character == "'" {
                quote = character
            } else if character == end {
                break
            } else if character == "." {
                names.append("")
            } else if !character.isWhitespace {
                names[names.count - 1].append(character)
            }
        }
        return names
    }
}
