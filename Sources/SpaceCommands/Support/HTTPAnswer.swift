import Glibc
import SpaceSystem
import SystemPackage

/// The answer to one request of HTTP, after which the connection ends.
struct HTTPAnswer {
    let status: String
    var type = "text/plain; charset=utf-8"
    /// Further lines of the head.
    var fields: [String] = []
    let body: String

    /// How long a client may take to read the answer.
    private static let patience = Duration.seconds(10)
    /// pipe(7): if poll(2) calls a pipe writable, this many bytes are written without waiting.
    private static let piece = Int(PIPE_BUF)

    /// An answer of one line, which says what is wrong.
    static func refusal(_ status: String, _ line: String, fields: [String] = []) -> HTTPAnswer {
        HTTPAnswer(status: status, fields: fields, body: line + "\n")
    }

    /// The answer's text; to HEAD, the head of what GET would give (RFC 9110, 9.3.2).
    func text(to method: String?) -> String {
        let lines =
            ["HTTP/1.1 \(status)", "Content-Type: \(type)", "Content-Length: \(body.utf8.count)"] + fields
            + ["Connection: close", "", ""]
        return lines.joined(separator: "\r\n") + (method == "HEAD" ? "" : body)
    }

    /// Sends the answer; a client that does not read it in time gets no more.
    ///
    /// - Throws: `OutputFailure`; `Terminated` if a signal asks the command to end.
    func send(to method: String?, on descriptor: CInt = STDOUT_FILENO) throws {
        var bytes = Array(text(to: method).utf8)[...]
        let end = MonotonicInstant.now.advanced(by: Self.patience)
        while !bytes.isEmpty {
            try Signals.check()
            if end.hasPassed { throw OutputFailure(cause: .timedOut) }
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&request, 1, CInt(end.remaining / .milliseconds(1)) + 1) > 0 else { continue }
            let count = Self.write(bytes.prefix(Self.piece), to: descriptor)
            if count > 0 { bytes = bytes.dropFirst(count) }
            if count < 0, errno != EINTR, errno != EAGAIN { throw OutputFailure(cause: Errno(rawValue: errno)) }
        }
    }

    /// Writes without waiting, to a socket or to a pipe that has room.
    ///
    /// The flag of send(2) is for the one call: O_NONBLOCK would be for all processes that have the open file.
    private static func write(_ bytes: ArraySlice<UInt8>, to descriptor: CInt) -> Int {
        bytes.withUnsafeBytes { bytes in
            let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT))
            guard count < 0, errno == ENOTSOCK else { return count }
            return Glibc.write(descriptor, bytes.baseAddress, bytes.count)
        }
    }
}
