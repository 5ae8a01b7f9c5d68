import Glibc
import SystemPackage

/// Standard output, buffered, with every write checked.
///
/// What a command may call printed is what write(2) has accepted, so the count of accepted bytes is kept, also when a later
/// write fails: it decides which tuples a `take` may complete.
final class Output {
    private let descriptor: CInt
    private var buffer: [UInt8] = []
    /// How much is buffered before it is written, so that long listings need no memory of their own.
    private static let chunk = 64 << 10

    /// Bytes appended since the start.
    private(set) var appended = 0
    /// Bytes that write(2) has accepted since the start.
    private(set) var accepted = 0

    init(descriptor: CInt = STDOUT_FILENO) {
        self.descriptor = descriptor
    }

    /// Prints one line on standard output.
    ///
    /// - Throws: `OutputFailure`.
    static func print(line: String) throws { try print(lines: CollectionOfOne(line)) }

    /// Prints lines on standard output.
    ///
    /// - Throws: `OutputFailure`.
    static func print(lines: some Sequence<String>) throws {
        let output = Output()
        for line in lines { try output.print(line) }
        try output.flush()
    }

    /// Appends a line to the buffer and writes nothing.
    func append(line: String) {
        let before = buffer.count
        buffer.append(contentsOf: line.utf8)
        buffer.append(UInt8(ascii: "\n"))
        appended += buffer.count - before
    }

    /// Appends a line, writing when enough has gathered.
    func print(_ line: String) throws {
        append(line: line)
        if buffer.count >= Self.chunk { try flush() }
    }

    /// Writes everything that is buffered.
    ///
    /// - Throws: `OutputFailure`; the rest of the buffer is dropped then, since nobody would take it.
    func flush() throws {
        var written = 0
        defer { buffer.removeAll(keepingCapacity: true) }
        while written < buffer.count {
            // Also after a write that was cut short: write(2) says how much it took before a signal, not that one came.
            if Signals.pending != nil { throw OutputFailure(cause: nil) }
            let result = buffer.withUnsafeBytes { bytes in
                write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
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
                // Somebody made the pipe or terminal non-blocking; waiting for room is what the write would have done.
                try awaitRoom()
            default:
                throw OutputFailure(cause: cause)
            }
        }
    }

    /// Whether standard output is a pipe that nobody reads any more: poll(2) reports POLLERR then, and writing would break it.
    var isAbandoned: Bool {
        var request = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLERR) != 0
    }

    /// Refuses to print where it is known that nobody would read it: before something is changed whose result only the print shows.
    ///
    /// - Throws: `OutputFailure`.
    func checkTaken() throws {
        // Also what stands in for a descriptor that a caller has closed.
        let flags = fcntl(descriptor, F_GETFL)
        if flags < 0 || flags & O_ACCMODE == O_RDONLY { throw OutputFailure(cause: .badFileDescriptor) }
        if isAbandoned { throw OutputFailure(cause: .brokenPipe) }
    }

    private func awaitRoom() throws {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        if poll(&request, 1, -1) < 0 {
            let cause = Errno(rawValue: errno)
            guard cause == .interrupted else { throw OutputFailure(cause: cause) }
        }
    }
}
