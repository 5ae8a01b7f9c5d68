import Glibc

/// An accepted connection, which one thread of its own serves.
///
/// Guarantees: it ends, whatever the other end does. A request's head has a length and a time; what comes behind it is
/// never read but to be thrown away; an answer that is not read ends the connection; and a page that has gone is noticed
/// though nothing is sent.
struct Connection: ~Copyable {
    private let descriptor: Int32

    /// How long the head of a request may take.
    private static let patience = Duration.seconds(5)
    /// How long an answer may lie unread before the page is taken for gone.
    private static let readingPatience = Duration.seconds(30)
    /// The bytes that the kernel keeps of an answer that is not read yet.
    private static let kept: Int32 = 64 << 10
    /// The least time between two parts of the events: what comes meanwhile is sent together.
    private static let pause = Duration.milliseconds(100)

    /// poll(2): POLLRDHUP, which Glibc does not show to Swift.
    private static let hangUp: Int16 = 0x2000

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        var size = Self.kept
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    }

    deinit { close(descriptor) }

    // MARK: Serving

    /// Reads one request, and answers it.
    func serve(_ answers: Answers) {
        let request: HTTPRequest
        do throws(Refusal) { request = try readHead() } catch {
            guard let refusal = error.answer else { return }
            return finish(refusal.bytes())
        }
        let answer = answers.answer(request)
        guard case .events(let mailbox) = answer.body else {
            return finish(answer.bytes(isHeadOnly: request.method == "HEAD"))
        }
        defer { mailbox.close() }
        if send(answer.bytes()) { sendEvents(of: mailbox) }
    }

    /// Answers without reading the request.
    func refuse(_ answer: HTTPAnswer) { finish(answer.bytes()) }

    private enum Refusal: Error {
        case late, tooLong, malformed, gone

        var answer: HTTPAnswer? {
            switch self {
            case .late: Answers.refusal(.requestTimeout, "the request did not come in time")
            case .tooLong: Answers.refusal(.headerFieldsTooLarge, "the head of the request is too long")
            case .malformed: Answers.refusal(.badRequest, "this is no request of HTTP/1.1")
            case .gone: nil
            }
        }
    }

    private func readHead() throws(Refusal) -> HTTPRequest {
        let end = ContinuousClock.now + Self.patience
        var head: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            guard wait(POLLIN, until: end) else { throw .late }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { throw .gone }
            let searched = max(0, head.count - 3)
            head += buffer[..<count]
            if let length = Self.length(ofHeadIn: head, from: searched) {
                guard length <= HTTPRequest.longest else { throw .tooLong }
                guard let request = HTTPRequest(head: head[..<length]) else { throw .malformed }
                return request
            }
            guard head.count <= HTTPRequest.longest else { throw .tooLong }
        }
    }

    /// The length of the head up to its empty line; `nil` if that has not come yet.
    private static func length(ofHeadIn bytes: [UInt8], from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            if bytes[index] == 0x0A {
                if index + 1 < bytes.count, bytes[index + 1] == 0x0A { return index + 1 }
                if index + 2 < bytes.count, bytes[index + 1] == 0x0D, bytes[index + 2] == 0x0A { return index + 1 }
            }
            index += 1
        }
        return nil
    }

    /// Sends the last bytes, and lets the other end read them.
    ///
    /// Closing a connection with bytes that were not read resets it, and the answer would be lost with that. So what comes
    /// is thrown away for a moment.
    private func finish(_ bytes: [UInt8]) {
        guard send(bytes) else { return }
        shutdown(descriptor, Int32(SHUT_WR))
        let end = ContinuousClock.now + .seconds(1)
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var rest = 1 << 20
        while rest > 0, wait(POLLIN, until: end) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EAGAIN || errno == EINTR { continue }
            guard count > 0 else { return }
            rest -= count
        }
    }

    private func sendEvents(of mailbox: Mailbox) {
        while true {
            var polled = [
                pollfd(fd: mailbox.bell, events: Int16(POLLIN), revents: 0),
                pollfd(fd: descriptor, events: Self.hangUp, revents: 0),
            ]
            guard poll(&polled, 2, -1) >= 0 || errno == EINTR else { return }
            if polled[1].revents != 0 { return }
            switch mailbox.next() {
            case .nothing: continue
            case .closed:
                _ = send(Array("0\r\n\r\n".utf8))
                return
            case .events(let text):
                let bytes = Array(text.utf8)
                let size = String(bytes.count, radix: 16)
                guard send(Array("\(size)\r\n".utf8) + bytes + Array("\r\n".utf8)) else { return }
            }
            usleep(UInt32(Self.pause / .microseconds(1)))
        }
    }

    // MARK: The socket

    /// Sends all of the bytes; returns whether the other end took them in time.
    private func send(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        var end = ContinuousClock.now + Self.readingPatience
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
                end = ContinuousClock.now + Self.readingPatience
            } else if count < 0, errno == EAGAIN {
                guard wait(POLLOUT, until: end) else { return false }
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Whether the socket is ready before the time has passed.
    private func wait(_ events: Int32, until end: ContinuousClock.Instant) -> Bool {
        while true {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { return false }
            var polled = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let count = poll(&polled, 1, Int32(left / .milliseconds(1)) + 1)
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
    }
}
