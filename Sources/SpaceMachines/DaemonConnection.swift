import SpaceEngine
package import SpaceSystem
package import SystemPackage

/// How a process asks the daemon of its root about one namespace.
package protocol DaemonExchange: AnyObject {
    /// Sends a request, and waits for its answer.
    ///
    /// - Throws: `timedOut`, or the errors of the connection; the exchange is no longer used then.
    func exchange(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) -> DaemonAnswer

    /// Sends a request that has no answer.
    func send(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno)
}

/// A process's connection to the daemon of its root, about one namespace.
final class DaemonConnection: DaemonExchange {
    private let socket: LocalConnection
    /// When the daemon has last answered here.
    private var answered = MonotonicInstant.now

    /// Connects, and greets the daemon.
    ///
    /// - Returns: The connection, if the daemon welcomes it, and its answer.
    static func open(
        _ root: SpaceRoot,
        life: NamespaceLife,
        name: String,
        until deadline: MonotonicInstant
    ) throws(Errno) -> (DaemonConnection?, DaemonAnswer) {
        let connection = DaemonConnection(try DaemonSocket.connect(root, until: deadline))
        let answer = try connection.exchange(.hello(life: life.number, name: name), until: deadline)
        guard case .welcome = answer else { return (nil, answer) }
        return (connection, answer)
    }

    private init(_ socket: consuming LocalConnection) { self.socket = socket }

    func exchange(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) -> DaemonAnswer {
        try send(request, until: deadline)
        return try receive(until: deadline)
    }

    func send(_ request: DaemonRequest, until deadline: MonotonicInstant) throws(Errno) {
        try socket.send(request.encoded, until: deadline)
    }

    func receive(until deadline: MonotonicInstant) throws(Errno) -> DaemonAnswer {
        let answer = try DaemonSocket.receive(over: socket, until: deadline)
        answered = .now
        return answer
    }

    /// Whether the daemon has answered within a time.
    func hasAnswered(within time: Duration) -> Bool { !answered.advanced(by: time).hasPassed }
}
