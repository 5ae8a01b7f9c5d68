import Glibc
package import SpaceEngine
package import SpaceSystem
package import SystemPackage

/// The socket of a root's daemon, as processes use it.
package enum DaemonSocket {
    /// The folder of the daemon's files in the root, and the socket in it.
    package static let folder = ".cluster"
    package static let name = "socket"
    /// The lock file that the daemon holds.
    package static let lock = "lock"
    /// The file of the locks under which processes make shared namespaces, a byte for each name; the daemon makes the file.
    package static let making = "making"

    /// The file that exists while the daemon makes a namespace a shared one.
    ///
    /// It exists from before the namespace is a replica until the store has its life, or another one of the name.
    package static func mark(of name: NamespaceName) -> String { "founding-\(name.encoded)" }

    /// Connects to the daemon.
    ///
    /// - Throws: `noSuchFileOrDirectory` or `connectionRefused` if there is none; `permissionDenied` if another user
    ///   listens there; `timedOut`.
    package static func connect(
        _ root: SpaceRoot,
        until deadline: MonotonicInstant
    ) throws(Errno) -> LocalConnection {
        let folder = try OwnedDescriptor.directory(FilePath("\(root.path)/\(Self.folder)"))
        let owner = try FileInfo.of(folder.raw).owner
        let socket = try LocalConnection(in: folder, name, until: deadline)
        guard socket.peer.user == owner || socket.peer.user == 0 else { throw .permissionDenied }
        return socket
    }

    /// Sends a request and waits for the answer.
    ///
    /// - Throws: `timedOut`; `badMessage` for an answer that does not decode; what the socket throws.
    package static func exchange(
        _ request: DaemonRequest,
        over socket: borrowing LocalConnection,
        until deadline: MonotonicInstant
    ) throws(Errno) -> DaemonAnswer {
        try socket.send(request.encoded, until: deadline)
        return try receive(over: socket, until: deadline)
    }

    /// Waits for an answer.
    ///
    /// - Throws: `timedOut`; `badMessage` for an answer that does not decode; what the socket throws.
    static func receive(
        over socket: borrowing LocalConnection,
        until deadline: MonotonicInstant
    ) throws(Errno) -> DaemonAnswer {
        let size = Int(try socket.receive(4, until: deadline).little(0, UInt32.self))
        guard (1...DaemonRequest.mostBytes).contains(size),
            let answer = DaemonAnswer(try socket.receive(size, until: deadline))
        else { throw Errno(rawValue: EBADMSG) }
        return answer
    }

    /// Connects, and asks one thing about a namespace or, with an empty name, about the machines.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - root: The root.
    ///   - life: The namespace's life, or 0.
    ///   - name: The namespace's name, or an empty one.
    ///   - patience: How long to wait in all.
    /// - Returns: The answer; that to the connection's `hello` if that is no welcome, or if nothing is asked.
    /// - Throws: `clusterUnavailable` if there is no daemon, or it does not answer in time.
    package static func ask(
        _ request: DaemonRequest?,
        in root: SpaceRoot,
        life: UInt64,
        name: String,
        patience: Duration
    ) throws(SpaceError) -> DaemonAnswer {
        let deadline = MonotonicInstant.now.advanced(by: patience)
        do throws(Errno) {
            let socket = try connect(root, until: deadline)
            let welcome = try exchange(.hello(life: life, name: name), over: socket, until: deadline)
            switch welcome {
            case .welcome: break
            // The namespace is none of all machines yet.
            case .gone where request == .replicate: break
            // A report says why there is no welcome.
            case _ where request == .report: break
            default: return welcome
            }
            guard let request else { return welcome }
            return try exchange(request, over: socket, until: deadline)
        } catch {
            switch request {
            case .report: throw .noAnswer(root, error)
            // The namespace is none of several machines yet, or not even made.
            case .replicate, nil: throw .noDaemon(root, error, isShared: false)
            default: throw .noDaemon(root, error)
            }
        }
    }
}
