package import ClusterStore
import SpaceSystem

/// A ``Store`` that another process has, at a Unix socket: see ``SocketStoreServer``.
///
/// Each call and each watch is a connection of its own, whose first line is the request. So nothing has to be connected
/// again, and no answer waits behind another one.
package final class SocketStore: Store {
    private let path: String

    /// How long a call waits for its answer.
    private static let timeLimit = Duration.seconds(5)

    /// - Parameter path: Where the server listens, or will.
    /// - Throws: `refused` if that is no path.
    package init(_ path: String) throws(StoreError) {
        guard path.hasPrefix("/") else { throw .refused("--etcd names '\(path)', which is no path from / on") }
        self.path = path
    }

    package func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading {
        try await call(.read(range, limit: limit, keysOnly: keysOnly))
    }

    package func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome {
        try await call(.transact(transaction))
    }

    package func makeLease(seconds: Int) async throws(StoreError) -> StoreLease {
        try await call(.makeLease(seconds: seconds))
    }

    package func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int { try await call(.keepAlive(lease)) }

    package func end(_ lease: StoreLease) async throws(StoreError) { let _: Bool = try await call(.end(lease)) }

    package func status() async throws(StoreError) -> StoreStatus { try await call(.status) }

    package func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        do throws(StoreError) {
            let connection = try connected()
            // A watch has no limit of time: the store tells it now and then that nothing has changed.
            let queue = StoreNewsQueue { connection.shutDown() }
            do { try DetachedThread.start { Self.pass(.watch(range, from: revision), connection, to: queue) } } catch {
                throw .unavailable("no thread: \(error)")
            }
            return queue.sequence
        } catch {
            return AsyncThrowingStream { throw error }
        }
    }

    private static func pass(_ request: SocketRequest, _ connection: SocketConnection, to queue: StoreNewsQueue) {
        connection.send(request)
        while let answer = connection.receive(SocketAnswer<StoreNews>.self) {
            switch answer {
            case .done(let news): if !queue.append(news) { connection.shutDown() }
            case .failed(let error): queue.finish(throwing: error)
            }
        }
        queue.finish(throwing: .unavailable("the connection has ended"))
    }

    private func call<Content: Codable & Sendable>(_ request: SocketRequest) async throws(StoreError) -> Content {
        let connection = try connected()
        connection.limitReceiving(to: Self.timeLimit)
        let answer: SocketAnswer<Content>? = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                do {
                    try SpareThreads.shared.start {
                        connection.send(request)
                        continuation.resume(returning: connection.receive(SocketAnswer<Content>.self))
                    }
                } catch {
                    continuation.resume(returning: .failed(.unavailable("no thread: \(error)")))
                }
            }
        } onCancel: {
            connection.shutDown()
        }
        switch answer {
        case .done(let content)?: return content
        case .failed(let error)?: throw error
        case nil: if case .transact = request { throw .unknown(Self.silence) } else { throw .unavailable(Self.silence) }
        }
    }

    private static let silence = "no answer, and the connection has ended or \(timeLimit) have passed"

    private func connected() throws(StoreError) -> SocketConnection {
        do {
            return SocketConnection(try LocalSocket.connected(path, until: .now.advanced(by: Self.timeLimit)))
        } catch {
            throw .unavailable("\(path): \(error)")
        }
    }
}
