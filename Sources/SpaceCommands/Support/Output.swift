import Glibc
import SystemPackage
import TupleCoding

/// A line to print: text, or bytes as they are.
enum PrintedLine {
    case text(String)
    case bytes([UInt8])
}

/// Standard output, buffered, with every write checked.
///
/// A line counts as printed once write(2) has accepted it. So the count of accepted bytes is kept, also if a later
/// write fails: it decides which tuples `take` may complete.
final class Output {
    private let descriptor: CInt
    private var buffer: [UInt8] = []
    /// How many bytes are buffered before they are written, so that a long listing takes no more memory.
    private static let chunk = 64 << 10

    /// Bytes appended since the start.
    private(set) var appended = 0
    /// Bytes that write(2) has accepted since the start.
    private(set) var accepted = 0

    /// Whether a signal that asks the command to end leaves out only what the reader has no room for.
    private let isOfDeeds: Bool

    /// - Parameters:
    ///   - descriptor: Where to write.
    ///   - isOfDeeds: Whether what is printed was done already, so that it is printed although a signal has come.
    init(descriptor: CInt = STDOUT_FILENO, isOfDeeds: Bool = false) {
        self.descriptor = descriptor
        self.isOfDeeds = isOfDeeds
    }

    /// Prints one line on standard output.
    ///
    /// - Throws: `OutputFailure`.
    static func print(line: PrintedLine) throws { try print(lines: CollectionOfOne(line)) }

    /// Prints lines on standard output.
    ///
    /// - Throws: `OutputFailure`.
    static func print(lines: some Sequence<PrintedLine>) throws {
        let output = Output()
        for line in lines { try output.print(line) }
        try output.flush()
    }

    /// Appends a line to the buffer and writes nothing.
    func append(line: PrintedLine) {
        let before = buffer.count
        switch line {
        case .text(let text): buffer.append(contentsOf: text.utf8)
        case .bytes(let bytes): buffer.append(contentsOf: bytes)
        }
        buffer.append(UInt8(ascii: "\n"))
        appended += buffer.count - before
    }

    /// Appends a line of text to the buffer and writes nothing.
    func append(line: String) { append(line: .text(line)) }

    /// Appends a line of text, and writes the buffer once it holds enough.
    func print(_ line: String) throws { try print(.text(line)) }

    /// Appends an object as a line, and writes the buffer once it holds enough.
    func print(_ object: JSONObject) throws { try print(object.json) }

    /// Prints an object as one line on standard output.
    static func print(_ object: JSONObject) throws { try print(line: object.json) }

    /// Prints one line of text on standard output.
    static func print(line: String) throws { try print(line: .text(line)) }

    /// Prints a text on standard output as it is.
    static func print(text: String) throws {
        let output = Output()
        output.append(text: text)
        try output.flush()
    }

    /// Appends a text to the buffer as it is, and writes nothing.
    func append(text: String) {
        let before = buffer.count
        buffer.append(contentsOf: text.utf8)
        appended += buffer.count - before
    }

    /// Prints lines of text on standard output.
    static func print(lines: some Sequence<String>) throws {
        let output = Output()
        for line in lines { try output.print(line) }
        try output.flush()
    }

    /// Prints lines that say what was done; if they do not reach a reader, undoes it.
    static func print(lines: [String], orElse undo: () throws -> Void) throws {
        do {
            try print(lines: lines)
        } catch {
            try? undo()
            throw error
        }
    }

    /// Appends a line, and writes the buffer once it holds enough.
    func print(_ line: PrintedLine) throws {
        append(line: line)
        if buffer.count >= Self.chunk { try flush() }
    }

    /// Whether the reader of standard output has taken nothing for a while.
    private var isStuck = false
    /// How many milliseconds the reader may take nothing before the rest is kept in memory.
    private static let patience: CInt = 1000
    /// A write of this many bytes to a pipe that has room does not block (pipe(7), PIPE_BUF).
    private static let pipeChunk = 4096

    /// Prints a line while the caller holds something that others need, such as a snapshot.
    ///
    /// If the reader of standard output takes nothing for a second, as one that pages does, this line and all that come
    /// are kept in memory, so that the caller comes to its end; ``flush()`` writes them then.
    ///
    /// - Throws: `OutputFailure`.
    func printWithoutWaiting(_ line: PrintedLine) throws {
        append(line: line)
        guard buffer.count >= Self.chunk, !isStuck else { return }
        var written = 0
        defer { buffer.removeFirst(written) }
        while written < buffer.count {
            if Signals.pending != nil { throw OutputFailure(cause: nil) }
            var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            let ready = poll(&request, 1, Self.patience)
            if ready < 0, errno == EINTR { continue }
            guard ready != 0 else {
                isStuck = true
                return
            }
            let result = buffer.withUnsafeBytes { bytes in
                write(descriptor, bytes.baseAddress.map { $0 + written }, min(bytes.count - written, Self.pipeChunk))
            }
            if result >= 0 {
                written += result
                accepted += result
                continue
            }
            let cause = Errno(rawValue: errno)
            guard cause == .interrupted || cause == .resourceTemporarilyUnavailable else {
                throw OutputFailure(cause: cause)
            }
        }
    }

    /// Writes everything that is buffered.
    ///
    /// - Throws: `OutputFailure`. Then the rest of the buffer is dropped, since no process would read it.
    func flush() throws {
        var written = 0
        defer {
            buffer.removeAll(keepingCapacity: true)
            isStuck = false
        }
        while written < buffer.count {
            // Checked again after a short write: write(2) returns what it took before the signal, not that a signal
            // came.
            let mayWait = Signals.pending == nil
            if !mayWait, !isOfDeeds || !hasRoom { throw OutputFailure(cause: nil) }
            let most = mayWait ? Int.max : Self.pipeChunk
            let result = buffer.withUnsafeBytes { bytes in
                write(descriptor, bytes.baseAddress.map { $0 + written }, min(bytes.count - written, most))
            }
            if result >= 0 {
                written += result
                accepted += result
                continue
            }
            let cause = Errno(rawValue: errno)
            switch cause {
            case .interrupted:
                continue
            case .resourceTemporarilyUnavailable:
                // Another process has made the pipe or the terminal non-blocking. A blocking write would wait for room
                // too.
                try awaitRoom()
            default:
                throw OutputFailure(cause: cause)
            }
        }
    }

    /// Whether standard output is a pipe without a reader: poll(2) reports POLLERR then, and a write would fail.
    var isAbandoned: Bool {
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLERR) != 0
    }

    /// Checks that standard output can be read, before a command makes a change that only its output shows.
    ///
    /// - Throws: `OutputFailure` if it is known that no process would read the output.
    func checkTaken() throws {
        // A read-only descriptor stands in for one that the caller has closed.
        let flags = fcntl(descriptor, F_GETFL)
        if flags < 0 || flags & O_ACCMODE == O_RDONLY { throw OutputFailure(cause: .badFileDescriptor) }
        if isAbandoned { throw OutputFailure(cause: .brokenPipe) }
    }

    /// Whether a write of `pipeChunk` bytes would not wait.
    private var hasRoom: Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 0) > 0
    }

    private func awaitRoom() throws {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&request, 1, -1) < 0 {
            let cause = Errno(rawValue: errno)
            guard cause == .interrupted else { throw OutputFailure(cause: cause) }
        }
    }
}
