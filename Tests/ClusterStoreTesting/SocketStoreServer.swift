package import ClusterStore
import SpaceSystem
import Synchronization
package import SystemPackage

/// Lets other processes use a store, each by a ``SocketStore``.
package final class SocketStoreServer: Sendable {
    private let store: any Store
    private let connections = Mutex<[UInt64: SocketConnection]>([:])

    /// Listens at a path, for as long as the process.
    package init(_ store: any Store, at path: String) throws(Errno) {
        self.store = store
        let listener = try LocalSocket.listening(path).release()
        try DetachedThread.start { self.accept(listener) }
    }

    /// Ends all connections; calls that are under way get no answer.
    package func cut() { for connection in connections.withLock({ $0.values }) { connection.shutDown() } }

    private func accept(_ listener: CInt) {
        var number: UInt64 = 0
        while true {
            let accepted: OwnedDescriptor?
            do { accepted = try LocalSocket.accept(listener) } catch { return }
            // One may have ended before it was accepted.
            guard let accepted else { continue }
            let connection = SocketConnection(accepted)
            number += 1
            connections.withLock { $0[number] = connection }
            try? DetachedThread.start { [number] in
                self.serve(connection)
                self.connections.withLock { _ = $0.removeValue(forKey: number) }
            }
        }
    }

    private func serve(_ connection: SocketConnection) {
        guard let request = connection.receive(SocketRequest.self) else { return }
        let task = Task {
            await answer(request, connection)
            connection.shutDown()
        }
        // Nothing more is sent: this ends with the connection.
        _ = connection.receive(SocketRequest.self)
        task.cancel()
    }

    private func answer(_ request: SocketRequest, _ connection: SocketConnection) async {
        let store = store
        switch request {
        case .read(let range, let limit, let keysOnly):
            await reply(connection) { () async throws(StoreError) in
                try await store.read(range, limit: limit, keysOnly: keysOnly)
            }
        case .transact(let transaction):
            await reply(connection) { () async throws(StoreError) in try await store.transact(transaction) }
        case .makeLease(let seconds):
            await reply(connection) { () async throws(StoreError) in try await store.makeLease(seconds: seconds) }
        case .keepAlive(let lease):
            await reply(connection) { () async throws(StoreError) in try await store.keepAlive(lease) }
        case .end(let lease):
            await reply(connection) { () async throws(StoreError) in
                try await store.end(lease)
                return true
            }
        case .status: await reply(connection) { () async throws(StoreError) in try await store.status() }
        case .watch(let range, let revision):
            do {
                for try await news in store.watch(range, from: revision) {
                    await connection.send(later: SocketAnswer.done(news))
                }
            } catch {
                let error = error as? StoreError ?? .unavailable("\(error)")
                await connection.send(later: SocketAnswer<StoreNews>.failed(error))
            }
        }
    }

    private func reply<Content: Codable & Sendable>(
        _ connection: SocketConnection,
        _ call: () async throws(StoreError) -> Content
    ) async {
        let answer: SocketAnswer<Content>
        do throws(StoreError) { answer = .done(try await call()) } catch { answer = .failed(error) }
        await connection.send(later: answer)
    }
}
