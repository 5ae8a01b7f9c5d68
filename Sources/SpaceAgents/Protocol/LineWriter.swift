import Glibc
import Synchronization

/// Writes lines on a descriptor, each as a whole, from any thread.
final class LineWriter: Sendable {
    private let descriptor: CInt
    private let isBroken = Mutex(false)

    init(_ descriptor: CInt) { self.descriptor = descriptor }

    /// Writes a line.
    ///
    /// - Returns: Whether all of it was accepted. After a failure nothing more is written, because half a line may be
    ///   there.
    func write(_ line: String) -> Bool {
        isBroken.withLock { isBroken in
            guard !isBroken else { return false }
            var rest = Array((line + "\n").utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
                if count >= 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&request, 1, -1)
                } else if errno != EINTR {
                    isBroken = true
                    return false
                }
            }
            return true
        }
    }
}
