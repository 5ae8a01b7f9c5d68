import Glibc
package import SystemPackage

/// A connection to a process that listens at a Unix socket; each wait has an end.
package struct UnixSocket: ~Copyable {
    private let descriptor: OwnedDescriptor
    /// The user of the process that listens.
    package let peer: UInt32

    /// Connects to a socket in a folder.
    ///
    /// - Parameters:
    ///   - folder: The open folder.
    ///   - name: The socket's name in the folder.
    /// - Throws: `noSuchFileOrDirectory` and `connectionRefused` if no process listens there.
    package init(in folder: borrowing OwnedDescriptor, _ name: String) throws(Errno) {
        let socket = try LocalSocket.connected(at: folder.raw, name)
        let user = try LocalSocket.peerUser(socket.raw)
        guard fcntl(socket.raw, F_SETFL, O_NONBLOCK) == 0 else { throw Errno(rawValue: errno) }
        self.init(connected: socket, peer: user)
    }

    private init(connected descriptor: consuming OwnedDescriptor, peer: UInt32) {
        self.descriptor = descriptor
        self.peer = peer
    }

    /// Sends all bytes.
    ///
    /// - Throws: `timedOut` if the peer does not read them in time, `brokenPipe` if it has gone.
    package borrowing func send(_ bytes: [UInt8], until deadline: MonotonicInstant) throws(Errno) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor.raw, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                sent += count
            } else {
                try wait(POLLOUT, until: deadline)
            }
        }
    }

    /// Receives exactly so many bytes.
    ///
    /// - Throws: `timedOut` if they do not come in time, `connectionReset` if the peer ends before.
    package borrowing func receive(_ count: Int, until deadline: MonotonicInstant) throws(Errno) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let read = bytes.withUnsafeMutableBytes {
                recv(descriptor.raw, $0.baseAddress! + received, count - received, 0)
            }
            if read > 0 {
                received += read
            } else if read == 0 {
                throw .connectionReset
            } else {
                try wait(POLLIN, until: deadline)
            }
        }
        return bytes
    }

    /// After a call that has failed: waits until another may succeed, if it can.
    private borrowing func wait(_ event: CInt, until deadline: MonotonicInstant) throws(Errno) {
        let error = Errno(rawValue: errno)
        guard error == .wouldBlock || error == .interrupted else { throw error }
        guard !deadline.hasPassed else { throw .timedOut }
        var request = pollfd(fd: descriptor.raw, events: Int16(event), revents: 0)
        // A signal or a wait that ends early only leads to another turn.
        _ = poll(&request, 1, CInt(clamping: deadline.remaining.saturatedNanoseconds / 1_000_000 + 1))
    }
}
