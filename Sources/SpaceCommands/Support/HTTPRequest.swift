import Glibc
import SpaceSystem

/// One request of HTTP (RFC 9112) on standard input, as a socket unit with `Accept=yes` hands it over.
struct HTTPRequest {
    let method: String
    /// The path, without a query.
    let path: String

    /// How long a client may take to send the head of its request, and how long the head may be.
    private static let patience = Duration.seconds(5)
    private static let longestHead = 16 << 10

    /// Why there is no request.
    enum Refusal: Error { case late, malformed }

    /// Reads the head of the request.
    ///
    /// - Throws: `Refusal`; `Terminated` if a signal asks the command to end.
    static func read(from descriptor: CInt = STDIN_FILENO) throws -> HTTPRequest {
        var head: [UInt8] = []
        let end = MonotonicInstant.now.advanced(by: patience)
        while head.count < longestHead, !isWhole(head) {
            try Signals.check()
            if end.hasPassed { throw Refusal.late }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, CInt(end.remaining / .milliseconds(1)) + 1) > 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { break }
            head.append(contentsOf: buffer[..<count])
        }
        let line = head.prefix { $0 != 0x0D && $0 != 0x0A }
        guard let text = String(validating: line, as: UTF8.self) else { throw Refusal.malformed }
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else { throw Refusal.malformed }
        return HTTPRequest(method: String(words[0]), path: String(words[1].prefix { $0 != "?" }))
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
}
