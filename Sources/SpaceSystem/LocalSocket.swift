import CSpaceShims
import Glibc
package import SystemPackage

/// Unix sockets of the stream kind (unix(7)), as descriptors: by names in open folders, and by paths.
///
/// A socket's path has at most 107 bytes, so one in a folder is reached through the open folder under /proc/self/fd.
package enum LocalSocket {
    /// Makes a socket at a path that does not exist, and listens; its calls wait.
    package static func listening(_ path: String) throws(Errno) -> OwnedDescriptor {
        let made = try unconnected()
        try withAddress(path) { address, size throws(Errno) in
            guard bind(made.raw, address, size) == 0 else { throw Errno(rawValue: errno) }
        }
        guard listen(made.raw, 128) == 0 else { throw Errno(rawValue: errno) }
        return made
    }

    /// Makes a socket that listens under a name in a folder, for this user alone; its calls don't wait.
    package static func listening(at folder: CInt, _ name: String, backlog: CInt) throws(Errno) -> OwnedDescriptor {
        let made = try unconnected(SOCK_NONBLOCK)
        try withAddress(path(at: folder, name)) { address, size throws(Errno) in
            guard bind(made.raw, address, size) == 0 else { throw Errno(rawValue: errno) }
        }
        guard fchmodat(folder, name, 0o600, 0) == 0, listen(made.raw, backlog) == 0 else {
            throw Errno(rawValue: errno)
        }
        return made
    }

    /// Connects to the socket under a name in a folder; the connection's calls wait.
    ///
    /// - Throws: `timedOut` if the listener's queue of connections that it has not accepted stays full until then.
    ///   Connections of processes that have given up count too.
    package static func connected(
        at folder: CInt,
        _ name: String,
        until deadline: MonotonicInstant
    ) throws(Errno) -> OwnedDescriptor {
        try connected(path(at: folder, name), until: deadline)
    }

    /// Connects to the socket at a path, without a limit of time unless there is a deadline; the connection's calls wait.
    package static func connected(
        _ path: String,
        until deadline: MonotonicInstant? = nil
    ) throws(Errno) -> OwnedDescriptor {
        let made = try unconnected()
        if let deadline { try limitConnecting(made, until: deadline) }
        try withAddress(path) { address, size throws(Errno) in
            guard connect(made.raw, address, size) == 0 else {
                let error = Errno(rawValue: errno)
                throw error == .resourceTemporarilyUnavailable ? .timedOut : error
            }
        }
        return made
    }

    /// unix(7): connect(2) waits for room in the listener's queue as long as a send may.
    private static func limitConnecting(
        _ socket: borrowing OwnedDescriptor,
        until deadline: MonotonicInstant
    ) throws(Errno) {
        let microseconds = max(1, deadline.remaining.saturatedNanoseconds / 1000)
        var limit = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
        let size = socklen_t(MemoryLayout<timeval>.size)
        guard setsockopt(socket.raw, SOL_SOCKET, SO_SNDTIMEO, &limit, size) == 0 else { throw Errno(rawValue: errno) }
    }

    /// Accepts a connection; `nil` if there is none, or if it has already ended.
    package static func accept(_ listener: CInt) throws(Errno) -> OwnedDescriptor? {
        let raw = Glibc.accept(listener, nil, nil)
        if raw >= 0 {
            let accepted = OwnedDescriptor(adopting: raw)
            try accepted.setInheritable(false)
            return accepted
        }
        let error = Errno(rawValue: errno)
        // accept(2): ECONNABORTED is an error of the connection, not of the listener.
        guard ![.resourceTemporarilyUnavailable, .connectionAbort, .interrupted].contains(error) else { return nil }
        throw error
    }

    /// The process at the other end when it connected or began to listen, and its user.
    ///
    /// The process is 0 if it is in another PID namespace.
    package static func peer(_ socket: CInt) throws(Errno) -> (user: UInt32, process: Int32) {
        var (user, process): (UInt32, Int32) = (.max, 0)
        try checked(space_peer(socket, &user, &process))
        return (user, process)
    }

    /// Sends what the socket takes now.
    ///
    /// - Returns: How many bytes; 0 if it takes none now.
    package static func send(_ bytes: ArraySlice<UInt8>, to socket: CInt) throws(Errno) -> Int {
        let count = bytes.withUnsafeBytes {
            Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
        }
        if count >= 0 { return count }
        let error = Errno(rawValue: errno)
        guard error == .resourceTemporarilyUnavailable || error == .interrupted else { throw error }
        return 0
    }

    /// Receives what has arrived.
    ///
    /// - Returns: `nil` if nothing has arrived; no bytes at the end of the connection.
    package static func receive(_ socket: CInt, most: Int) throws(Errno) -> [UInt8]? {
        var error = Errno(rawValue: 0)
        let bytes = [UInt8](unsafeUninitializedCapacity: most) { buffer, count in
            let received = recv(socket, buffer.baseAddress, most, CInt(MSG_DONTWAIT))
            count = max(0, received)
            if received < 0 { error = Errno(rawValue: errno) }
        }
        if error == .resourceTemporarilyUnavailable || error == .interrupted { return nil }
        guard error.rawValue == 0 else { throw error }
        return bytes
    }

    /// Whether the peer has its end of a connection open.
    package static func isConnected(_ socket: CInt) -> Bool {
        var byte: UInt8 = 0
        let count = recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
        return count > 0 || count < 0 && [EAGAIN, EWOULDBLOCK, EINTR].contains(errno)
    }

    /// Ends a connection in both directions; its descriptor stays open.
    package static func shutDown(_ socket: CInt) { _ = Glibc.shutdown(socket, CInt(SHUT_RDWR)) }

    private static func unconnected(_ flag: __socket_type? = nil) throws(Errno) -> OwnedDescriptor {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (flag?.rawValue ?? 0)
        let raw = socket(AF_UNIX, CInt(kind), 0)
        guard raw >= 0 else { throw Errno(rawValue: errno) }
        return OwnedDescriptor(adopting: raw)
    }

    private static func path(at folder: CInt, _ name: String) -> String {
        "\(OwnedDescriptor.procPath(of: folder))/\(name)"
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Errno) -> Void
    ) throws(Errno) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // A path needs room for its NUL, and one that begins with NUL is no path.
        guard !bytes.isEmpty, !bytes.contains(0), bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .fileNameTooLong
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        var failure: Errno?
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                do throws(Errno) { try body(pointer, size) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }
}
