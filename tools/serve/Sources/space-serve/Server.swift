import Glibc

/// Listens, answers, and ends.
struct Server {
    private let options: ServeOptions

    /// Is told, before the first connection, what has to go when the program ends at once.
    private let onEnd: @Sendable (SpaceProgram, ListeningPlace, UInt?) -> Void

    init(_ options: ServeOptions, onEnd: @escaping @Sendable (SpaceProgram, ListeningPlace, UInt?) -> Void) {
        self.options = options
        self.onEnd = onEnd
    }

    /// Serves until a signal comes.
    func run(until signals: AsyncStream<Int32>) async throws(Failure) {
        let space = SpaceProgram(path: options.space, common: options.commonWords)
        try await check(space)
        guard let place = try? options.place else {
            throw Failure(Failure.usage, "this address can't be listened at")
        }
        try place.makeWay()
        if case .unix = place { umask(0o177) }
        let viewers = Viewers(space, limit: options.clients)
        let listener = try Listener(place, most: options.clients + Self.mostRequests) { place in
            Answers(viewers: viewers, place: place)
        }
        let inode = place.inode
        onEnd(space, place, inode)
        try listener.start()
        Self.print(listener.bound.text)
        for await _ in signals { break }
        listener.stop()
        viewers.close()
        // The events end with their last part.
        for _ in 0..<50 where listener.served > 0 { try? await Task.sleep(for: .milliseconds(20)) }
        await Self.waitForEnd(of: space)
        space.kill()
        place.remove(inode: inode)
    }

    /// The most requests beside the events of the pages.
    private static let mostRequests = 32

    /// Waits until the looks have ended, which were told to when their pages closed.
    private static func waitForEnd(of space: SpaceProgram) async {
        for _ in 0..<20 where !space.pids.isEmpty { try? await Task.sleep(for: .milliseconds(50)) }
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
}
