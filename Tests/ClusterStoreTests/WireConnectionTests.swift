import ClusterStore
import ClusterStoreRemote
import ClusterStoreTesting
import Glibc
import SeededRandom
import SpaceSystem
import SystemPackage
import Testing

/// Neither side of the store's wire trusts the other: what does not decode ends the connection, and nothing else.
@Suite(.timeLimit(.minutes(5)))
struct WireConnectionTests {
    /// Sends bytes to a server, ends, and returns why the server has ended.
    private func serve(_ bytes: [UInt8], then close: Bool = true) async throws -> String {
        let (own, theirs) = try LocalSocket.pair()
        let server = try StoreServer(MemoryStore(), input: theirs, output: theirs)
        let running = Task { try await server.run() }
        let socket = FileDescriptor(rawValue: own)
        // The server may have ended before it takes all bytes.
        signal(SIGPIPE, SIG_IGN)
        _ = try? socket.writeAll(bytes)
        if close { shutdown(own, CInt(SHUT_WR)) }
        let reason = try await running.value
        try socket.close()
        return reason
    }

    private func greeted(_ bytes: [UInt8]) -> [UInt8] { WireHello.message.frames + bytes }

    @Test(arguments: 1...40)
    func randomBytesEndTheConnection(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let bytes = (0..<Int.random(in: 1...4096, using: &random)).map { _ in
            UInt8.random(in: .min ... .max, using: &random)
        }
        _ = try await serve(seed.isMultiple(of: 2) ? bytes : greeted(bytes))
    }

    @Test(arguments: 1...40)
    func damagedRequestsEndTheConnectionOrAreAnswered(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var bytes = WireTests.requests.enumerated().flatMap { $1.message(id: UInt64($0 + 1)).frames }
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: .min ... .max, using: &random)
        }
        _ = try await serve(greeted(bytes))
    }

    @Test func requestsThatEndEarlyAreNotDone() async throws {
        let bytes = WireTests.requests[2].message(id: 1).frames
        for count in [0, 1, 4, 12, bytes.count - 1] {
            #expect(try await serve(greeted(Array(bytes.prefix(count)))) == "the other side has ended")
        }
    }

    @Test(arguments: [
        // A frame larger than any.
        [0x7F, 0xFF, 0xFF, 0xFF],
        // A request of an unknown kind.
        [0, 0, 0, 9] + [0, 0, 0, 0, 0, 0, 0, 1] + [0x3F],
    ])
    func badRequestsEndTheConnectionAtOnce(bytes: [UInt8]) async throws {
        let reason = try await serve(greeted(bytes + [UInt8](repeating: 0, count: 16)), then: false)
        #expect(reason.hasPrefix("the other side sends what does not decode"), "\(reason)")
    }

    @Test func aRequestNumberThatComesAgainEndsTheConnection() async throws {
        let request = WireRequest.status.message(id: 5).frames
        let reason = try await serve(greeted(request + request), then: false)
        #expect(reason.contains("request 5 comes after request 5"), "\(reason)")
    }

    @Test func aStrangerEndsTheConnection() async throws {
        let hello = WireMessage(id: 0, kind: 0, body: Array("GET / HTTP/1.1\r\n".utf8)).frames
        let reason = try await serve(hello, then: false)
        #expect(reason.contains("does not speak the store's wire"), "\(reason)")
    }

    // MARK: The caller

    /// Makes a remote store, and lets a body play its server.
    private func withRemote(
        _ bytes: [UInt8],
        _ body: (RemoteStore) async throws -> Void
    ) async throws {
        let (own, theirs) = try LocalSocket.pair()
        let store = try RemoteStore(input: own, output: own)
        let socket = FileDescriptor(rawValue: theirs)
        try socket.writeAll(bytes)
        try await body(store)
        try socket.close()
    }

    @Test(arguments: 1...20)
    func aStoreThatAnswersNonsenseEndsAllCalls(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        // A length that no frame has, so that the end comes at once.
        let nonsense = [0xFF] + (0..<64).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        try await withRemote(seed.isMultiple(of: 2) ? nonsense : greeted(nonsense)) { store in
            let reason = try #require(await store.ended())
            #expect(reason.contains("does not decode"), "\(reason)")
            await #expect(throws: StoreError.unavailable(reason)) { try await store.status() }
            await #expect(throws: StoreError.unavailable(reason)) {
                try await store.transact(StoreTransaction(then: []))
            }
            var news = store.watch(.prefix(""), from: 1).makeAsyncIterator()
            await #expect(throws: StoreError.unavailable(reason)) { try await news.next() }
        }
    }

    @Test func aTransactionWithoutAnAnswerIsUnknown() async throws {
        let (own, theirs) = try LocalSocket.pair()
        let store = try RemoteStore(input: own, output: own)
        let socket = FileDescriptor(rawValue: theirs)
        async let transaction = Result { () async throws(StoreError) in
            try await store.transact(StoreTransaction(then: []))
        }
        // It is sent once its bytes are here; then the other side goes.
        var count = 0
        var buffer = [UInt8](repeating: 0, count: 4096)
        let whole = greeted(WireRequest.transact(StoreTransaction(then: [])).message(id: 1).frames).count
        while count < whole { count += try buffer.withUnsafeMutableBytes { try socket.read(into: $0) } }
        try socket.close()
        guard case .failure(.unknown) = await transaction else {
            Issue.record("the transaction has another end: \(await transaction)")
            return
        }
    }

    /// A watch that its store ends without an error ends here too, so that its consumer watches again.
    @Test func aWatchThatEndsIsTold() async throws {
        let (own, theirs) = try LocalSocket.pair()
        let server = try StoreServer(StoreWithoutNews(), input: theirs, output: theirs)
        let running = Task { try await server.run() }
        let store = try RemoteStore(input: own, output: own)
        var news = store.watch(.prefix(""), from: 1).makeAsyncIterator()
        await #expect(throws: StoreError.unavailable("the watch has ended")) { try await news.next() }
        store.close()
        _ = try await running.value
    }

    @Test func anAnswerToNoQuestionEndsTheConnection() async throws {
        try await withRemote(greeted(WireAnswer.done.message(id: 77).frames)) { store in
            let reason = try #require(await store.ended())
            #expect(reason.contains("request 77, which was not sent"), "\(reason)")
        }
    }
}

/// A store whose watches end at once, and that can do nothing else.
private struct StoreWithoutNews: Store {
    private var error: StoreError { .refused("it has only watches") }

    func read(_ range: StoreRange, limit: Int?, keysOnly: Bool) async throws(StoreError) -> StoreReading { throw error }
    func transact(_ transaction: StoreTransaction) async throws(StoreError) -> StoreOutcome { throw error }
    func makeLease(seconds: Int) async throws(StoreError) -> StoreLease { throw error }
    func keepAlive(_ lease: StoreLease) async throws(StoreError) -> Int { throw error }
    func end(_ lease: StoreLease) async throws(StoreError) { throw error }
    func status() async throws(StoreError) -> StoreStatus { throw error }

    func watch(_ range: StoreRange, from revision: Int64) -> AsyncThrowingStream<StoreNews, any Error> {
        AsyncThrowingStream { nil }
    }
}

extension Result where Failure == StoreError {
    /// What a call comes to.
    fileprivate init(_ body: () async throws(StoreError) -> Success) async {
        do throws(StoreError) { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
