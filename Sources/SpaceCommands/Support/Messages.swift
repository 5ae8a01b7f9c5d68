import Glibc

/// Standard error, for everything that isn't data.
enum Messages {
    /// Prints one message; a failure can't be reported anywhere, so it is ignored.
    static func print(_ message: String) {
        let bytes = Array("\(message)\n".utf8)
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
}
