/// An answer, after which the connection ends.
struct HTTPAnswer {
    enum Status: String {
        case ok = "200 OK"
        case badRequest = "400 Bad Request"
        case forbidden = "403 Forbidden"
        case notFound = "404 Not Found"
        case methodNotAllowed = "405 Method Not Allowed"
        case requestTimeout = "408 Request Timeout"
        case lengthRequired = "411 Length Required"
        case contentTooLarge = "413 Content Too Large"
        case headerFieldsTooLarge = "431 Request Header Fields Too Large"
        case serviceUnavailable = "503 Service Unavailable"
    }

    enum Body {
        case text(String)
        /// Server-sent events, until the mailbox is closed.
        case events(Mailbox)
    }

    let status: Status
    let fields: [(name: String, value: String)]
    let body: Body

    /// The answer's head, and its text; of events, only the head.
    ///
    /// - Parameter isHeadOnly: Whether the request was HEAD, to which no text is sent (RFC 9110, 9.3.2).
    /// - Returns: What is sent.
    func bytes(isHeadOnly: Bool = false) -> [UInt8] {
        var lines = ["HTTP/1.1 \(status.rawValue)", "Connection: close"]
        lines += fields.map { "\($0.name): \($0.value)" }
        switch body {
        case .text(let text):
            lines.append("Content-Length: \(text.utf8.count)")
            return Array((lines + ["", isHeadOnly ? "" : text]).joined(separator: "\r\n").utf8)
        case .events:
            lines.append("Transfer-Encoding: chunked")
            return Array((lines + ["", ""]).joined(separator: "\r\n").utf8)
        }
    }
}
