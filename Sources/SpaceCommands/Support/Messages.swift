import Glibc

/// Standard error, where everything goes that isn't data.
enum Messages {
    /// Prints one message; if even that fails there is nobody left to tell.
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
