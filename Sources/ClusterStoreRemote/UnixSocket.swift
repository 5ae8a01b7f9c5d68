import Glibc
package import SpaceSystem
package import SystemPackage

/// Unix sockets of the stream kind, by path or as a pair.
package enum UnixSocket {
    private static let stream = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)

    /// Two sockets that are connected with each other, both close-on-exec; the caller owns them.
    package static func pair() throws(Errno) -> (CInt, CInt) {
        var ends: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else { throw Errno(rawValue: errno) }
        return (ends[0], ends[1])
    }

    /// Makes a socket at a path that does not exist, and listens.
    package static func listen(_ path: String) throws(Errno) -> OwnedDescriptor {
        let socket = try open()
        try withAddress(path) { bind(socket.raw, $0, $1) }
        guard Glibc.listen(socket.raw, 128) == 0 else { throw Errno(rawValue: errno) }
        return socket
    }

    /// Waits for the next connection.
    package static func accept(_ socket: CInt) throws(Errno) -> OwnedDescriptor {
        while true {
            let number = Glibc.accept(socket, nil, nil)
            if number >= 0 {
                let connection = OwnedDescriptor(adopting: number)
                try connection.setInheritable(false)
                return connection
            }
            // accept(2): the connection that ended before it was accepted, and a signal.
            guard errno == ECONNABORTED || errno == EINTR else { throw Errno(rawValue: errno) }
        }
    }

    /// Connects to the socket at a path.
    package static func connect(_ path: String) throws(Errno) -> OwnedDescriptor {
        let socket = try open()
        try withAddress(path) { Glibc.connect(socket.raw, $0, $1) }
        return socket
    }

    private static func open() throws(Errno) -> OwnedDescriptor {
        let socket = Glibc.socket(AF_UNIX, stream, 0)
        guard socket >= 0 else { throw Errno(rawValue: errno) }
        return OwnedDescriptor(adopting: socket)
    }

    private static func withAddress(
        _ path: String,
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws(Errno) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // unix(7): a path needs room for its NUL, and one that begins with NUL is no path.
        guard !bytes.isEmpty, !bytes.contains(0), bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw .fileNameTooLong
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
    }
}
