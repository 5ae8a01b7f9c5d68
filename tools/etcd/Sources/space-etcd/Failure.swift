import Glibc

/// Why the program ends: a message for people, and its exit status, one of sysexits.h.
struct Failure: Error {
    static let usage: Int32 = 64
    static let noInput: Int32 = 66
    static let inputOutput: Int32 = 74

    let status: Int32
    let message: String

    init(_ status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }

    /// Prints a message on standard error.
    static func tell(_ message: String) {
        let bytes = Array("space-etcd: \(message)\n".utf8)
        _ = write(STDERR_FILENO, bytes, bytes.count)
    }
}
