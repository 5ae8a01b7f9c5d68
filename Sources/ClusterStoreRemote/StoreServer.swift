package import ClusterStore
import Synchronization
package import SystemPackage

/// Serves a ``Store`` to a ``RemoteStore`` at the other end of a pair of descriptors.
package final class StoreServer: Sendable {
    private struct State {
        var lastID: UInt64 = 0
        var tasks: [UInt64: Task<Void, Never>] = [:]
        /// Tasks that ended before they were in the list.
        var early: Set<UInt64> = []
        var hasEnded = false
    }

    private let store: any Store
    private let channel: MessageChannel
    private let maximumTasks: Int
    private let executor: (any TaskExecutor)?
    private let state = Mutex(State())

    /// Takes over a pair of descriptors, which may be the same one.
    ///
    /// - Parameters:
    ///   - store: What answers.
    ///   - input: Where the requests are read.
    ///   - output: Where the answers are written.
    ///   - maximumTasks: How many calls and watches are served at once; the others are told that they are too many.
    ///   - executor: What runs the calls and watches, if it is not the shared pool.
    /// - Throws: The system's error if the descriptors can't be used.
    package init(
        _ store: any Store,
        input: CInt,
        output: CInt,
        maximumTasks: Int = 4096,
        executor: (any TaskExecutor)? = nil
    ) throws(Errno) {
        self.store = store
        self.maximumTasks = maximumTasks
        self.executor = executor
        channel = try MessageChannel(input: input, output: output)
    }

    /// Serves until the other side ends, or breaks the rules of the wire.
    ///
    /// - Returns: Why it has ended.
    package func run() async throws(Errno) -> String {
        let (endings, ending) = AsyncStream<String>.makeStream()
        try channel.start(
            MessageChannel.Handlers(
                received: { message throws(WireError) in try self.receive(message) },
                tick: { nil },
                ended: { reason in
                    ending.yield(reason)
                    ending.finish()
                }
            )
        )
        var reason = "the server's task was cancelled"
        for await ended in endings { reason = ended }
        channel.close(reason)
        let tasks = state.withLock { state in
            state.hasEnded = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
        return reason
    }

    /// Ends the connection.
    package func close(_ reason: String) { channel.close(reason) }

    private func receive(_ message: WireMessage) throws(WireError) {
        let request = try WireRequest(message)
        let id = message.id
        if request == .stopWatching {
            state.withLock { $0.tasks[id] }?.cancel()
            return
        }
        let isTooMuch = try state.withLock { state throws(WireError) in
            guard id > state.lastID else { throw WireError("request \(id) comes after request \(state.lastID)") }
            state.lastID = id
            return state.tasks.count >= maximumTasks
        }
        guard !isTooMuch else {
            let reason = "\(maximumTasks) calls and watches are under way"
            _ = channel.send(WireAnswer.failed(.unavailable(reason)).message(id: id))
            return
        }
        let task = Task(executorPreference: executor) {
            await self.serve(request, id)
            self.state.withLock { state in
                if state.tasks.removeValue(forKey: id) == nil { state.early.insert(id) }
            }
        }
        let isLate = state.withLock { state in
            if state.early.remove(id) == nil { state.tasks[id] = task }
            return state.hasEnded
        }
        if isLate { task.cancel() }
    }

    private func serve(_ request: WireRequest, _ id: UInt64) async {
        guard case .watch(let range, let revision) = request else {
            var answer: WireAnswer
            do throws(StoreError) { answer = try await self.answer(request) } catch { answer = .failed(error) }
            var message = answer.message(id: id)
            if message.body.count > WireMessage.maximumBody {
                // A transaction that reads too much for a message is done even so.
                let size = "the answer has \(message.body.count) bytes, more than \(WireMessage.maximumBody)"
                if case .outcome = answer { answer = .failed(.unknown(size)) } else { answer = .failed(.refused(size)) }
                message = answer.message(id: id)
            }
            _ = channel.send(message)
            return
        }
        do {
            for try await news in store.watch(range, from: revision) {
                // While the other side takes nothing, this watch waits; the store ends it if it falls too far behind.
                await channel.waitForRoom()
                if let refusal = channel.send(WireAnswer.news(news).message(id: id)) {
                    throw StoreError.unavailable(refusal)
                }
            }
            // Unless the other side has stopped the watch, its consumer would wait for ever.
            guard !Task.isCancelled else { return }
            throw StoreError.unavailable("the watch has ended")
        } catch {
            let error = error as? StoreError ?? .unavailable("\(error)")
            _ = channel.send(WireAnswer.failed(error).message(id: id))
        }
    }

    private func answer(_ request: WireRequest) async throws(StoreError) -> WireAnswer {
        switch request {
        case .read(let range, let limit, let keysOnly):
            return .reading(try await store.read(range, limit: limit, keysOnly: keysOnly))
        case .transact(let transaction): return .outcome(try await store.transact(transaction))
        case .makeLease(let seconds): return .lease(try await store.makeLease(seconds: seconds))
        case .keepAlive(let lease): return .seconds(try await store.keepAlive(lease))
        case .end(let lease):
            try await store.end(lease)
            return .done
        case .status: return .status(try await store.status())
        case .watch, .stopWatching: throw .refused("no call")
        }
    }
}
