import SpaceEngine
package import SpaceMachines
import SpaceSystem
package import Synchronization

/// What answers the requests of connections.
package protocol RequestAnswering: Sendable {
    /// Answers a request; `nil` if it has no answer.
    func answer(_ request: DaemonRequest, of caller: Caller) async -> DaemonAnswer?

    /// The connection has ended; no request of it is under way.
    func ended(_ caller: Caller) async
}

/// A connection, as what answers its requests sees it.
package final class Caller: Sendable {
    /// A number that no other connection of the daemon has.
    package let number: UInt64
    var use: PenUse { .connection(number) }
    /// The namespace that the connection's `hello` named, if it did.
    package let subject = Mutex<Subject?>(nil)
    /// Whether the process still waits for its answer.
    ///
    /// It asks the system, and may be called while a request is under way.
    package let isConnected: @Sendable () -> Bool

    package struct Subject: Sendable {
        package let name: String
        package let life: UInt64
    }

    package init(number: UInt64, isConnected: @escaping @Sendable () -> Bool = { true }) {
        self.number = number
        self.isConnected = isConnected
    }
}

/// A process's connection.
///
/// Its requests are served one by one, in a task; the thread of ``SocketServer`` reads and, if the process is slow,
/// writes the rest. A connection that sends what does not decode is closed.
final class Connection: Sendable {
    private struct State {
        var input: [UInt8] = []
        var output: ArraySlice<UInt8> = []
        /// Since when the process has left bytes unread.
        var unreadSince: MonotonicInstant?
        var serving: Task<Void, Never>?
        var isServing = false
        var isClosed = false
        var hasEnded = false
    }

    let caller: Caller
    let socket: OwnedDescriptor
    private let answering: any RequestAnswering
    /// Asks the server's thread to call ``sendRest()`` when the socket takes bytes again.
    private let awaitRoom: @Sendable (CInt) -> Void
    private let state = Mutex(State())

    init(
        number: UInt64,
        _ socket: consuming OwnedDescriptor,
        _ answering: any RequestAnswering,
        awaitRoom: @escaping @Sendable (CInt) -> Void
    ) {
        let raw = socket.raw
        // While a request is under way, its task keeps the descriptor open.
        caller = Caller(number: number) { LocalSocket.isConnected(raw) }
        self.socket = socket
        self.answering = answering
        self.awaitRoom = awaitRoom
    }

    /// How many bytes wait to be served.
    var pendingBytes: Int { state.withLock { $0.input.count } }

    /// Since when the process has left bytes unread, if it has.
    var unreadSince: MonotonicInstant? { state.withLock { $0.unreadSince } }

    // MARK: On the server's thread

    /// Takes what has arrived.
    ///
    /// - Returns: `false` if the connection must be closed.
    func receive() -> Bool {
        while true {
            guard let received = try? LocalSocket.receive(socket.raw, most: 64 << 10) else {
                // `try?` makes one optional of two: nothing has arrived, or an error, which poll tells again.
                return true
            }
            guard !received.isEmpty else { return false }
            let isBearable = state.withLock { state in
                state.input += received
                return Self.isBearable(state.input)
            }
            guard isBearable else { return false }
            serve()
            if received.count < 64 << 10 { return true }
        }
    }

    /// Sends what the process has left unread; `false` if the connection must be closed.
    func sendRest() -> Bool { state.withLock { flush(&$0) } }

    /// Ends the connection: no request is served any more.
    func close() {
        let serving = state.withLock { state in
            state.isClosed = true
            state.input = []
            state.output = []
            return state.serving
        }
        serving?.cancel()
        serve()
    }

    private static func isBearable(_ input: [UInt8]) -> Bool {
        // A request may follow one that has no answer, so there may be two.
        guard input.count <= 2 * (DaemonRequest.mostBytes + 4) else { return false }
        guard let count = length(input[...]) else { return true }
        return (1...DaemonRequest.mostBytes).contains(count)
    }

    private static func length(_ input: ArraySlice<UInt8>) -> Int? {
        guard input.count >= 4 else { return nil }
        return input.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    // MARK: Serving

    private enum Next {
        case request(DaemonRequest)
        case garbage
        case nothing
        case end
    }

    private func serve() {
        state.withLock { state in
            guard !state.isServing else { return }
            state.isServing = true
            state.serving = TaskHome.daemon.start { await self.serveAll() }
            if state.isClosed { state.serving?.cancel() }
        }
    }

    private func serveAll() async {
        while true {
            switch next() {
            case .request(let request):
                if let answer = await answering.answer(request, of: caller) { send(answer.encoded) }
            case .garbage:
                shutDown()
                return
            case .nothing: return
            case .end:
                await answering.ended(caller)
                return
            }
        }
    }

    private func next() -> Next {
        state.withLock { state in
            if state.isClosed {
                state.isServing = false
                defer { state.hasEnded = true }
                return state.hasEnded ? .nothing : .end
            }
            guard let count = Self.length(state.input[...]), state.input.count >= 4 + count else {
                state.isServing = false
                return .nothing
            }
            let message = Array(state.input[4..<(4 + count)])
            state.input.removeFirst(4 + count)
            guard let request = DaemonRequest(message) else {
                state.isServing = false
                return .garbage
            }
            return .request(request)
        }
    }

    private func send(_ bytes: [UInt8]) {
        let isSent = state.withLock { state in
            guard !state.isClosed else { return true }
            state.output += bytes
            return flush(&state)
        }
        if !isSent { shutDown() }
    }

    private func flush(_ state: inout State) -> Bool {
        while !state.output.isEmpty {
            guard let count = try? LocalSocket.send(state.output, to: socket.raw) else { return false }
            guard count > 0 else {
                if state.unreadSince == nil {
                    state.unreadSince = .now
                    awaitRoom(socket.raw)
                }
                return true
            }
            state.output = state.output.dropFirst(count)
            state.unreadSince = nil
        }
        state.output = []
        return true
    }

    /// Ends the connection from a task: the server's thread sees its end and closes it.
    private func shutDown() { LocalSocket.shutDown(socket.raw) }
}
