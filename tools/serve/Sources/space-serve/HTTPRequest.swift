/// The head of a request of HTTP/1.1 (RFC 9112); this server reads no bodies.
struct HTTPRequest: Sendable {
    let method: String
    /// The path as it stands in the request, without the query.
    let path: String
    /// The query's items, decoded; of several with one name the first.
    let query: [String: String]
    /// The header fields, by their names in lower case.
    private let fields: [String: String]

    /// The most bytes of a head.
    static let longest = 16 << 10

    /// `nil` for a head that is malformed, or names a field twice that decides about the request.
    init?(head: some Collection<UInt8>) {
        guard let text = String(validating: head, as: UTF8.self) else { return nil }
        // "\r\n" is one character.
        var lines = text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" }[...]
        let words = lines.popFirst()?.split(separator: " ", omittingEmptySubsequences: false) ?? []
        guard words.count == 3, !words[0].isEmpty, words[1].hasPrefix("/"), words[2].hasPrefix("HTTP/1.") else {
            return nil
        }
        var fields: [String: String] = [:]
        for line in lines where !line.isEmpty {
            guard let colon = line.firstIndex(of: ":"), colon != line.startIndex, line.first?.isWhitespace == false
            else { return nil }
            let name = line[..<colon].lowercased()
            let isNew = fields[name] == nil
            guard isNew || !["host", "origin", "content-length", "transfer-encoding"].contains(name) else { return nil }
            let value = line[line.index(after: colon)...]
            if isNew { fields[name] = String(value.trimming { $0 == " " || $0 == "\t" }) }
        }
        method = String(words[0])
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(target[0])
        var query: [String: String] = [:]
        for item in (target.count > 1 ? target[1] : "").split(separator: "&") {
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(parts[0]), let value = Self.decoded(parts.count > 1 ? parts[1] : "") else {
                return nil
            }
            if query[name] == nil { query[name] = value }
        }
        self.query = query
        self.fields = fields
    }

    subscript(field: String) -> String? { fields[field] }

    /// The text with its percent-encoded bytes decoded; `nil` if that is no text.
    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let digits = String(validating: rest.prefix(2), as: UTF8.self),
                let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension Substring {
    fileprivate func trimming(_ isSpace: (Character) -> Bool) -> Substring {
        var text = self.drop(while: isSpace)
        while let last = text.last, isSpace(last) { text.removeLast() }
        return text
    }
}
