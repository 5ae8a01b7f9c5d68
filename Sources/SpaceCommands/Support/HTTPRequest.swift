import Glibc

/// One request of HTTP (RFC 9112) on standard input, as a socket unit with `Accept=yes` hands it over, and its answer.
enum HTTPRequest {
    /// How long a client may take to send the head of its request, and how long the head may be.
    private static let patience = 5
    private static let longestHead = 16 << 10

    /// Reads the head of the request; returns its method and path, or `nil` if it is none.
    static func read(from descriptor: CInt = STDIN_FILENO) throws -> (method: String, path: String)? {
        var head: [UInt8] = []
        let end = time(nil) + patience
        while head.count < longestHead, !isWhole(head) {
            try Signals.check()
            let remaining = end - time(nil)
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard remaining > 0 else { return nil }
            let ready = poll(&request, 1, CInt(remaining * 1000))
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return nil }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            head.append(contentsOf: buffer[..<count])
        }
        let line = head.prefix { $0 != 0x0D && $0 != 0x0A }
        guard let text = String(validating: line, as: UTF8.self) else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else { return nil }
        return (String(words[0]), String(words[1].prefix { $0 != "?" }))
    }

    /// Whether the head has ended with an empty line.
    private static func isWhole(_ head: [UInt8]) -> Bool {
        var lineIsEmpty = false
        for byte in head {
            if byte == 0x0A {
                if lineIsEmpty { return true }
                lineIsEmpty = true
            } else if byte != 0x0D {
                lineIsEmpty = false
            }
        }
        return false
    }

    /// The whole answer, after which the connection ends.
    static func answer(_ status: String, type: String = "text/plain; charset=utf-8", body: String) -> String {
        "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
            + body
    }
}
