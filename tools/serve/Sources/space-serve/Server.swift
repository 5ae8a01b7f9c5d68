import FlyingFox
import FlyingSocks
import Glibc

/// Listens, answers, and ends.
struct Server {
    private let options: ServeOptions

    init(_ options: ServeOptions) { self.options = options }

    /// Serves until a signal comes.
    func run(until signals: AsyncStream<Int32>) async throws(Failure) {
        let space = SpaceProgram(path: options.space, common: options.commonWords)
        try await check(space)
        guard let place = try? options.place, let address = try? place.address else {
            throw Failure(Failure.usage, "this address can't be listened at")
        }
        try place.makeWay()
        if case .unix = place { umask(0o177) }
        let viewers = Viewers(space, limit: options.clients)
        let bound = Mutexed(place)
        let answers = Answers(viewers: viewers) { bound.value }
        let server = HTTPServer(
            config: .init(address: address, timeout: 15, logger: .disabled),
            handler: ClosureHTTPHandler { answers.answer($0) }
        )
        let serving = Task { try await server.run() }
        let isListening = Task {
            try await server.waitUntilListening(timeout: 30)
        }
        // If it can't listen, nothing else ends the wait.
        let failing = Task {
            _ = await serving.result
            isListening.cancel()
        }
        guard (try? await isListening.value) != nil else { throw Self.failure(await serving.result, place) }
        failing.cancel()
        let listening = await server.listeningAddress
        bound.change { $0 = $0.bound(to: listening) }
        let inode = place.inode
        Self.print(bound.value.text)

        let end = await withTaskGroup(of: End.self) { group in
            group.addTask {
                for await _ in signals { break }
                return .signal
            }
            group.addTask { .failure(await serving.result) }
            let end = await group.next() ?? .signal
            viewers.close()
            await server.stop(timeout: 1)
            group.cancelAll()
            return end
        }
        place.remove(inode: inode)
        await Self.waitForEnd(of: space)
        if case .failure(let result) = end { throw Self.failure(result, place) }
    }

    /// Why the server ends.
    private enum End {
        case signal
        /// It can't accept connections any more.
        case failure(Result<Void, any Error>)
    }

    /// Waits until the looks have ended, which were told to when their pages closed.
    private static func waitForEnd(of space: SpaceProgram) async {
        for _ in 0..<50 where !space.pids.isEmpty { try? await Task.sleep(for: .milliseconds(50)) }
    }

    /// Prints a line on standard output.
    private static func print(_ line: String) {
        let bytes = Array("\(line)\n".utf8)
        _ = write(STDOUT_FILENO, bytes, bytes.count)
    }

    /// Looks once, so that a root that can't be looked at is an error at the start.
    private func check(_ space: SpaceProgram) async throws(Failure) {
        let (_, ending) = try await space.lines("top", ["--json", "--max=1"])
        guard ending.isDone else { throw Failure(ending.status ?? Failure.unavailable, ending.message) }
    }

    private static func failure(_ result: Result<Void, any Error>, _ place: ListeningPlace) -> Failure {
        guard case .failure(SocketError.failed(_, let code, _)) = result else {
            return Failure(Failure.inputOutput, "the server has ended")
        }
        return Failure("cannot listen at \(place.text)", errno: code)
    }
}
