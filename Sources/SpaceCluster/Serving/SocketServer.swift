package import SpaceEngine
package import SpaceSystem
import Synchronization
import SystemPackage

/// The daemon's socket: accepts connections and reads their requests, on a thread of its own.
///
/// Guarantees against processes that are broken or stopped: only the root's owner and uid 0 get a connection. The number
/// of connections and the bytes that wait are bounded. A process that sends garbage, too much, or that does not read its
/// answer within `writeTime` loses its connection, and no other process waits for it.
///
/// It has an epoll set of its own, the only one beside the event loop's. The loop's thread also ticks: in each namespace
/// it may wait for a gate whose holder is stopped, and all requests of the machine would wait too. An own `EventLoop` would
/// have nothing to tick for, but it hears on several threads, so that two could read one connection and mix up its bytes;
/// it does not end, as a server does with its connections; and it keeps no time for those that leave answers unread.
package final class SocketServer: Sendable {
    private let listener: OwnedDescriptor
    private let epoll: Epoll
    private let stop: EventFD
    private let owner: UInt32
    private let settings: ClusterSettings
    private let answering: any RequestAnswering
    private let isStopped = Atomic<Bool>(false)
    private let done = Mutex<[CheckedContinuation<Void, Never>]?>([])

    private static let listenerToken: UInt64 = 0
    private static let stopToken: UInt64 = 1

    /// - Parameters:
    ///   - listener: The listening socket.
    ///   - owner: The user whose processes are served.
    ///   - settings: The bounds.
    ///   - answering: What answers requests.
    /// - Throws: The errors of epoll(7) and eventfd(2).
    package init(
        _ listener: consuming OwnedDescriptor,
        owner: UInt32,
        settings: ClusterSettings,
        answering: any RequestAnswering
    ) throws(SpaceError) {
        let subject = "the daemon's socket"
        let raw = listener.raw
        self.listener = listener
        epoll = try system(subject) { () throws(Errno) in try Epoll() }
        stop = try system(subject) { () throws(Errno) in try EventFD() }
        self.owner = owner
        self.settings = settings
        self.answering = answering
        try system(subject) { () throws(Errno) in
            try epoll.add(raw, .readable, token: Self.listenerToken)
            try epoll.add(stop.raw, .readable, token: Self.stopToken)
        }
    }

    /// Serves until ``end()``.
    package func start() throws(SpaceError) {
        do throws(Errno) {
            try DetachedThread.start { self.run() }
        } catch {
            throw SpaceError(error, subject: "the daemon's socket")
        }
    }

    /// Closes all connections, and returns when no request is under way any more.
    package func end() async {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        try? stop.signal()
        await withCheckedContinuation { continuation in
            let isDone = done.withLock { waiting in
                waiting?.append(continuation)
                return waiting == nil
            }
            if isDone { continuation.resume() }
        }
    }

    private func run() {
        var connections: [UInt64: Connection] = [:]
        var next = Self.stopToken + 1
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            // With connections, one may leave its answer unread; nothing but the time tells.
            guard let ready = try? epoll.wait(timeout: connections.isEmpty ? nil : .seconds(1)) else { continue }
            for event in ready {
                switch event.token {
                case Self.stopToken: break
                case Self.listenerToken: accept(&connections, &next)
                default:
                    guard let connection = connections[event.token] else { continue }
                    var isAlive = true
                    if event.events.contains(.writable) { isAlive = connection.sendRest() }
                    if isAlive, event.events.contains(.readable) { isAlive = connection.receive() }
                    if isAlive, connection.pendingBytes > 64 << 10 { isAlive = isBearable(connections) }
                    if !isAlive || !event.events.isDisjoint(with: [.error, .hangUp]) {
                        close(event.token, &connections)
                    }
                }
            }
            for (token, connection) in connections {
                if let since = connection.unreadSince, since.advanced(by: settings.writeTime).hasPassed {
                    close(token, &connections)
                }
            }
        }
        for token in connections.keys { close(token, &connections) }
        for waiting in done.withLock({ $0.take() ?? [] }) { waiting.resume() }
    }

    private func isBearable(_ connections: [UInt64: Connection]) -> Bool {
        connections.values.reduce(0) { $0 + $1.pendingBytes } <= settings.mostPendingBytes
    }

    private func accept(_ connections: inout [UInt64: Connection], _ next: inout UInt64) {
        while let accepted = try? LocalSocket.accept(listener.raw) {
            guard connections.count < settings.mostConnections,
                let user = try? LocalSocket.peer(accepted.raw).user, user == owner || user == 0
            else { continue }
            let token = next
            let connection = Connection(number: token, accepted, answering) { [weak self] socket in
                // Edge-triggered: the thread learns that a slow process reads again without asking for it each time.
                try? self?.epoll.modify(socket, [.readable, .writable, .edgeTriggered], token: token)
            }
            guard (try? epoll.add(connection.socket.raw, [.readable, .edgeTriggered], token: token)) != nil else {
                continue
            }
            connections[next] = connection
            next += 1
        }
    }

    private func close(_ token: UInt64, _ connections: inout [UInt64: Connection]) {
        guard let connection = connections.removeValue(forKey: token) else { return }
        try? epoll.remove(connection.socket.raw)
        connection.close()
        LocalSocket.shutDown(connection.socket.raw)
    }
}
