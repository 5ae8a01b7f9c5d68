import Glibc

/// Where the server listens: a port of this machine's loopback, or a Unix socket.
enum ListeningPlace: Sendable {
    case ip4(port: UInt16)
    case ip6(port: UInt16)
    case unix(path: String)

    /// unix(7): `sun_path` has 108 bytes, one of them for the null byte.
    static let longestPath = 107

    /// `nil` for an address that is not this machine's loopback.
    init?(address: String, port: UInt16) {
        switch address {
        case "127.0.0.1", "localhost": self = .ip4(port: port)
        case "::1", "[::1]": self = .ip6(port: port)
        default: return nil
        }
    }

    /// `nil` for a path that is empty or too long.
    init?(socket path: String) {
        guard (1...Self.longestPath).contains(path.utf8.count) else { return nil }
        self = .unix(path: path)
    }

    /// Calls a function with the address to bind.
    func withAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        func call<Address>(_ address: Address) -> Result {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<Address>.size))
                }
            }
        }
        switch self {
        case .ip4(let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return call(address)
        case .ip6(let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return call(address)
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(Self.longestPath)) }
            return call(address)
        }
    }

    /// The place with the port that the kernel chose.
    func bound(to descriptor: Int32) -> ListeningPlace {
        var address = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let status = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard status == 0, let port = port(of: address) else { return self }
        return switch self {
        case .ip4: .ip4(port: port)
        case .ip6: .ip6(port: port)
        case .unix: self
        }
    }

    /// The port in an address of this machine's loopback; `nil` for any other address, and at a Unix socket.
    func port(of address: sockaddr_storage) -> UInt16? {
        withUnsafePointer(to: address) { pointer in
            switch self {
            case .ip4:
                pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    $0.pointee.sin_addr.s_addr == UInt32(0x7F00_0001).bigEndian
                        ? UInt16(bigEndian: $0.pointee.sin_port) : nil
                }
            case .ip6:
                pointer.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                    var (address, loopback) = ($0.pointee.sin6_addr, in6addr_loopback)
                    let isLoopback = memcmp(&address, &loopback, MemoryLayout<in6_addr>.size) == 0
                    return isLoopback ? UInt16(bigEndian: $0.pointee.sin6_port) : nil
                }
            case .unix: nil
            }
        }
    }

    /// What people open, and what is printed.
    var text: String {
        switch self {
        case .ip4(let port): "http://127.0.0.1:\(port)/"
        case .ip6(let port): "http://[::1]:\(port)/"
        case .unix(let path): "unix:\(path)"
        }
    }

    /// Whether a request's Host header names this machine.
    ///
    /// A page of another site that has its name resolved to 127.0.0.1 (DNS rebinding) sends that name. At a Unix socket
    /// any port will do, because what forwards to it (`ssh -L`) has one of its own.
    func accepts(host: String) -> Bool {
        for name in ["localhost", "127.0.0.1", "[::1]"] where host.hasPrefix(name) {
            let rest = host.dropFirst(name.count)
            switch self {
            case .ip4(let port), .ip6(let port):
                // A browser leaves the port of the scheme out.
                if rest == ":\(port)" || port == 80 && rest.isEmpty { return true }
            case .unix:
                if rest.isEmpty || rest.first == ":" && UInt16(rest.dropFirst()) != nil { return true }
            }
        }
        return false
    }

    // MARK: The socket's file

    /// Makes way for the socket: removes a socket of this user at which no process listens any more.
    func makeWay() throws(Failure) {
        guard case .unix(let path) = self else { return }
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw Failure("cannot look at '\(path)'", errno: errno)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            throw Failure(Failure.usage, "'\(path)' is there already, and is no socket of this user")
        }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        let isRefused = withAddress { connect(probe, $0, $1) != 0 && errno == ECONNREFUSED }
        guard isRefused else { throw Failure(Failure.tryAgain, "another process listens at '\(path)'") }
        guard unlink(path) == 0 else { throw Failure("cannot remove '\(path)'", errno: errno) }
    }

    /// The inode of the socket's file; `nil` if it has none.
    var inode: UInt? {
        guard case .unix(let path) = self else { return nil }
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_ino : nil
    }

    /// Removes the socket's file, unless another has taken its place.
    func remove(inode: UInt?) {
        guard case .unix(let path) = self, let inode, inode == self.inode else { return }
        unlink(path)
    }
}
