import Glibc
import Synchronization

/// Accepts connections, and gives each a thread of its own.
///
/// The user of the other end is looked up before a byte of the request is read. There are so many threads at the most; a
/// further connection is refused, and those of other users have a few threads of their own, so that they can't take the
/// pages' places.
final class Listener: Sendable {
    private let descriptor: Int32
    private let place: ListeningPlace
    private let answers: Answers
    private let most: Int
    private let counts = Mutex((served: 0, refused: 0))

    private static let mostRefused = 8

    /// Begins to listen.
    ///
    /// - Parameters:
    ///   - place: Where to listen.
    ///   - most: How many connections are served at once.
    ///   - answers: Makes the answers, for the place with the port that the kernel chose.
    /// - Throws: `Failure` if the place can't be listened at.
    init(_ place: ListeningPlace, most: Int, _ answers: (ListeningPlace) -> Answers) throws(Failure) {
        let family =
            switch place {
            case .ip4: AF_INET
            case .ip6: AF_INET6
            case .unix: AF_UNIX
            }
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure("cannot listen at \(place.text)", errno: errno) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        if case .ip6 = place {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        let (raw, text) = (descriptor, place.text)
        guard place.withAddress({ bind(raw, $0, $1) }) == 0, listen(raw, 64) == 0 else {
            let cause = errno
            close(raw)
            throw Failure("cannot listen at \(text)", errno: cause)
        }
        let bound = place.bound(to: raw)
        self.place = bound
        self.most = most
        self.answers = answers(bound)
    }

    /// The place, with the port that the kernel chose.
    var bound: ListeningPlace { place }

    /// Starts to accept.
    func start() throws(Failure) {
        guard DetachedThread.start({ self.accept() }) else { throw Failure(Failure.inputOutput, "there is no thread") }
    }

    /// Accepts no more connections.
    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// The number of connections that are served now.
    var served: Int { counts.withLock { $0.served } }

    private func accept() {
        while true {
            var peer = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let connection = withUnsafeMutablePointer(to: &peer) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.accept(descriptor, $0, &size)
                }
            }
            guard connection >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                // shutdown(2) of a listening socket ends accept(2) so.
                case EINVAL, EBADF: return
                default:
                    // No descriptor is free, for example: connections wait in the queue meanwhile.
                    usleep(50_000)
                    continue
                }
            }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            let port = place.port(of: peer)
            begin(connection, isAllowed: PeerCheck.isAllowed(connection, port: port, at: place))
        }
    }

    private func begin(_ descriptor: Int32, isAllowed: Bool) {
        let hasRoom = counts.withLock { counts in
            guard isAllowed ? counts.served < most : counts.refused < Self.mostRefused else { return false }
            if isAllowed { counts.served += 1 } else { counts.refused += 1 }
            return true
        }
        guard hasRoom else {
            close(descriptor)
            return
        }
        let hasBegun = DetachedThread.start {
            let connection = Connection(descriptor)
            if isAllowed {
                connection.serve(self.answers)
            } else {
                connection.refuse(Answers.refusal(.forbidden, "only processes of the server's user are answered"))
            }
            _ = consume connection
            self.end(isAllowed)
        }
        if !hasBegun {
            close(descriptor)
            end(isAllowed)
        }
    }

    private func end(_ isAllowed: Bool) {
        counts.withLock { if isAllowed { $0.served -= 1 } else { $0.refused -= 1 } }
    }
}

/// A thread that ends by itself.
enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a thread; returns whether there could be one.
    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let status = pthread_create(
            &thread,
            nil,
            { argument in
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        guard status == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
