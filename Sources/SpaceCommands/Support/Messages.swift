import Glibc
import Synchronization

private let quiet = Atomic<Bool>(false)

/// Standard error, for everything that isn't data.
enum Messages {
    /// Whether `--quiet` leaves out what the exit status says, and what is told besides.
    static var isQuiet: Bool {
        get { quiet.load(ordering: .relaxed) }
        set { quiet.store(newValue, ordering: .relaxed) }
    }

    /// Prints something that people may want to know although nothing has failed, unless `--quiet`.
    static func hint(_ message: String) {
        if !isQuiet { print("space: \(message)") }
    }

    /// Prints one message, its control characters as escapes; a failure can't be reported anywhere, so it is ignored.
    static func print(_ message: String) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        let bytes = Array((lines.map { PeopleText.escaped(String($0)) }.joined(separator: "\n") + "\n").utf8)
        var written = 0
        while written < bytes.count {
            let result = bytes.withUnsafeBytes { bytes in
                write(STDERR_FILENO, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if result > 0 {
                written += result
            } else if errno != EINTR || Signals.pending != nil {
                return
            }
        }
    }

    /// Whether this process can write a short line without waiting.
    ///
    /// A process that writes to a full pipe waits until another process has read from it.
    static func hasRoom(_ descriptor: CInt) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&request, 1, 0) != 0
    }
}
