import Glibc

/// Why the program ends: a message for people, and its exit status, which are those of `space`.
struct Failure: Error {
    static let usage: Int32 = 64
    static let unavailable: Int32 = 69
    static let inputOutput: Int32 = 74
    static let tryAgain: Int32 = 75
    static let permission: Int32 = 77

    let status: Int32
    let message: String

    init(_ status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }

    /// The failure of a system call.
    init(_ what: String, errno code: Int32) {
        let status =
            switch code {
            case EACCES, EPERM: Self.permission
            case EADDRINUSE: Self.tryAgain
            case EADDRNOTAVAIL, ENOENT, ENOTDIR: Self.unavailable
            default: Self.inputOutput
            }
        self.init(status, "\(what): \(String(cString: strerror(code)))")
    }

    /// Prints a message on standard error; `space` has printed its own with its name before.
    static func tell(_ message: String) {
        let line = message.hasPrefix("space") ? message : "space-serve: \(message)"
        let bytes = Array((line.hasSuffix("\n") ? line : "\(line)\n").utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
