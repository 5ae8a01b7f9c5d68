import Glibc
package import SystemPackage

/// A connection to a process that listens at a Unix socket; each wait has an end.
package struct LocalConnection: ~Copyable {
    private let descriptor: OwnedDescriptor
    /// The process that listens, 0 if it is in another PID namespace, and its user.
    package let peer: (user: UInt32, process: Int32)

    /// Connects to a socket in a folder.
    ///
    /// - Parameters:
    ///   - folder: The open folder.
    ///   - name: The socket's name in the folder.
    ///   - deadline: How long to wait for a process that has not accepted its last connections.
    /// - Throws: `noSuchFileOrDirectory` and `connectionRefused` if no process listens there; `timedOut`.
    package init(
        in folder: borrowing OwnedDescriptor,
        _ name: String,
        until deadline: MonotonicInstant
    ) throws(Errno) {
        let connected = try LocalSocket.connected(at: folder.raw, name, until: deadline)
        peer = try LocalSocket.peer(connected.raw)
        descriptor = connected
    }

    /// Sends all bytes.
    ///
    /// - Throws: `timedOut` if the peer does not read them in time, `brokenPipe` if it has gone.
    package borrowing func send(_ bytes: [UInt8], until deadline: MonotonicInstant) throws(Errno) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = try LocalSocket.send(rest, to: descriptor.raw)
            rest = rest.dropFirst(sent)
            if sent == 0 { try wait(POLLOUT, until: deadline) }
        }
    }

    /// Receives exactly a number of bytes.
    ///
    /// - Throws: `timedOut` if they do not come in time, `connectionReset` if the peer ends before.
    package borrowing func receive(_ count: Int, until deadline: MonotonicInstant) throws(Errno) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let more = try LocalSocket.receive(descriptor.raw, most: count - bytes.count) else {
                try wait(POLLIN, until: deadline)
                continue
            }
            guard !more.isEmpty else { throw .connectionReset }
            // As a rule all bytes come at once, and are not copied.
            if bytes.isEmpty { bytes = more } else { bytes += more }
        }
        return bytes
    }

    /// Waits until a call that could do nothing may succeed.
    private borrowing func wait(_ event: CInt, until deadline: MonotonicInstant) throws(Errno) {
        guard !deadline.hasPassed else { throw .timedOut }
        var request = pollfd(fd: descriptor.raw, events: Int16(event), revents: 0)
        // A signal or a wait that ends early only leads to another turn.
        _ = poll(&request, 1, CInt(clamping: deadline.remaining.saturatedNanoseconds / 1_000_000 + 1))
    }
}
