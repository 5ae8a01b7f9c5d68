import FlyingSocks
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

    /// The address to bind.
    var address: any SocketAddress {
        get throws {
            switch self {
            case .ip4(let port): try .inet(ip4: "127.0.0.1", port: port)
            case .ip6(let port): try .inet6(ip6: "::1", port: port)
            case .unix(let path): .unix(path: path)
            }
        }
    }

    /// The place with the port that the kernel chose.
    func bound(to address: Socket.Address?) -> ListeningPlace {
        switch address {
        case .ip4(_, let port)?: .ip4(port: port)
        case .ip6(_, let port)?: .ip6(port: port)
        case .unix?, nil: self
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
        let isRefused = sockaddr_un.unix(path: path).withSockAddr {
            connect(probe, $0, $1) != 0 && errno == ECONNREFUSED
        }
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
