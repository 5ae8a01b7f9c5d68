import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// A member of etcd behind a door: a socket that listens at a free port of 127.0.0.1.
///
/// While the door is shut, the kernel accepts connections, and nothing answers. While it is open, bytes go on to the member.
final class Relay: Sendable {
    let url: String
    private let listener: OwnedDescriptor
    private let state = Mutex(State())

    private struct State: ~Copyable {
        /// The pipe whose end ends the thread that accepts connections; `nil` while the door is shut.
        var stop: OwnedDescriptor?
        /// The sockets of the connections.
        var sockets: [CInt] = []
    }

    /// Listens, behind a shut door.
    init() throws(Errno) {
        listener = OwnedDescriptor(adopting: try Self.socket())
        var address = Self.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let raw = listener.raw
        let isListening = Self.withName(of: &address) { name in
            bind(raw, name, size) == 0 && listen(raw, 16) == 0 && getsockname(raw, name, &size) == 0
        }
        guard isListening else { throw Errno(rawValue: errno) }
        url = "http://127.0.0.1:\(in_port_t(bigEndian: address.sin_port))"
    }

    deinit { shut() }

    /// Opens the door.
    ///
    /// - Parameter member: The URL of a member at 127.0.0.1.
    /// - Throws: The errors of pipe(2), and `EAGAIN` if no thread can be made.
    func open(to member: String) throws {
        let port = in_port_t(member.split(separator: ":").last ?? "") ?? 0
        let (reading, writing) = try OwnedDescriptor.pipe()
        state.withLock { $0.stop = OwnedDescriptor(adopting: writing) }
        let listener = listener.raw
        try DetachedThread.start { [weak self] in
            defer { close(reading) }
            while true {
                var events = [
                    pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&events, 2, -1) > 0, events[1].revents == 0 else { return }
                let near = accept(listener, nil, nil)
                guard near >= 0, let far = try? Self.connected(to: port), let self, add([near, far]) else { return }
                for (from, to) in [(near, far), (far, near)] { try? DetachedThread.start { Self.copy(from, to) } }
            }
        }
    }

    /// Shuts the door; the connections end.
    func shut() {
        state.withLock { state in
            state.stop = nil
            // The threads that copy would use the number of a closed socket: they stay until the process ends.
            for socket in state.sockets { shutdown(socket, CInt(SHUT_RDWR)) }
            state.sockets = []
        }
    }

    private func add(_ sockets: [CInt]) -> Bool {
        state.withLock { state in
            guard state.stop != nil else { return false }
            state.sockets += sockets
            return true
        }
    }

    private static func copy(_ from: CInt, _ to: CInt) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(from, &buffer, buffer.count)
            guard count > 0, send(to, buffer, count, CInt(MSG_NOSIGNAL)) == count else { break }
        }
        for socket in [from, to] { shutdown(socket, CInt(SHUT_RDWR)) }
    }

    private static func connected(to port: in_port_t) throws(Errno) -> CInt {
        let socket = try socket()
        var address = address(port: port)
        let isConnected = withName(of: &address) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
        guard isConnected else { throw Errno(rawValue: errno) }
        return socket
    }

    private static func socket() throws(Errno) -> CInt {
        let descriptor = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        return descriptor
    }

    private static func address(port: in_port_t) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return address
    }

    private static func withName<R>(
        of address: inout sockaddr_in,
        _ body: (UnsafeMutablePointer<sockaddr>) -> R
    ) -> R {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
        }
    }
}
