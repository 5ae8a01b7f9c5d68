import ClusterStore
import ClusterStoreRemote
import ClusterStoreTesting
import SpaceSystem
import Synchronization
import SystemPackage
import Testing

/// A connection that ends or hangs is followed by another one; what was under way has failed.
@Suite(.timeLimit(.minutes(5)))
struct ReconnectingStoreTests {
    /// A store behind a connection that a test ends, or does not allow.
    private final class House: Sendable {
        let memory = MemoryStore()
        private let server = Mutex<StoreServer?>(nil)
        private let refusal = Mutex<Errno?>(nil)
        private let connections = Mutex(0)

        var connectionCount: Int { connections.withLock { $0 } }

        func connect() throws -> RemoteStore {
            if let refusal = refusal.withLock({ $0 }) { throw refusal }
            let (own, theirs) = try LocalSocket.pair()
            let server = try StoreServer(memory, input: theirs, output: theirs)
            Task { try await server.run() }
            self.server.withLock { $0 = server }
            connections.withLock { $0 += 1 }
            return try RemoteStore(input: own, output: own)
        }

        func refuse(_ error: Errno?) { refusal.withLock { $0 = error } }

        func cut() { server.withLock { $0 }?.close("cut by the test") }
    }

    /// Does a call again until it succeeds: the store refuses calls in the pause between two attempts.
    private func eventually<R>(_ body: () async throws(StoreError) -> R) async throws -> R {
        while true {
            do throws(StoreError) { return try await body() } catch { await Task.yield() }
        }
    }

    @Test func aCutConnectionIsMadeAnew() async throws {
        let house = House()
        let store = try ReconnectingStore { try house.connect() }
        for round in 1...3 {
            var news = store.watch(.prefix("a"), from: house.memory.revision + 1).makeAsyncIterator()
            // The watch has begun when its first news are here.
            house.memory.sendProgress()
            _ = try await store.transact(StoreTransaction(then: [.put("a", [1], .none)]))
            _ = try await news.next()
            house.cut()
            await #expect(throws: StoreError.self) { while try await news.next() != nil {} }
            let reading = try await eventually { () throws(StoreError) in
                try await store.read(.key("a"), limit: nil, keysOnly: false)
            }
            #expect(reading.rows.count == 1)
            #expect(house.connectionCount == round + 1)
        }
    }

    /// While no connection can be made, calls and watches say why.
    @Test func aRefusedConnectionIsNamed() async throws {
        let house = House()
        let store = try ReconnectingStore { try house.connect() }
        house.refuse(.connectionRefused)
        house.cut()
        while true {
            do throws(StoreError) { _ = try await store.status() } catch {
                if case .unavailable(let reason) = error, reason.contains("Connection refused") { break }
            }
        }
        var news = store.watch(.prefix("a"), from: 1).makeAsyncIterator()
        await #expect(throws: StoreError.self) { try await news.next() }
        house.refuse(nil)
        _ = try await eventually { () throws(StoreError) in try await store.status() }
    }

    /// The pause before a new connection stays short if the last one has worked: two hundred cuts take less than the
    /// suite's time limit, and would take longer with pauses of two seconds.
    @Test func aConnectionThatHasWorkedIsMadeAnewSoon() async throws {
        let house = House()
        let store = try ReconnectingStore { try house.connect() }
        for _ in 0..<200 {
            _ = try await eventually { () throws(StoreError) in try await store.status() }
            house.cut()
        }
    }

    /// It grows while connections end without an answer: they are not made as often as calls come.
    @Test func aConnectionThatNeverWorksIsMadeLessAndLessOften() async throws {
        let attempts = Mutex(0)
        let store = try ReconnectingStore {
            attempts.withLock { $0 += 1 }
            let (own, theirs) = try LocalSocket.pair()
            try FileDescriptor(rawValue: theirs).close()
            return try RemoteStore(input: own, output: own)
        }
        let began = MonotonicInstant.now
        while attempts.withLock({ $0 }) < 7 {
            await #expect(throws: StoreError.self) { try await store.status() }
        }
        // The pauses before the third to the seventh connection double: 40, 80, 160, 320 and 640 ms.
        #expect(began.advanced(by: .milliseconds(1240)).hasPassed)
    }

    @Test func anErrorOfTheFirstConnectionIsThrown() {
        #expect(throws: Errno.connectionRefused) { try ReconnectingStore { throw Errno.connectionRefused } }
    }

    /// The other side has taken a request and sends nothing: it is stopped, or hangs.
    @Test func aSilentConnectionEnds() async throws {
        let (own, theirs) = try LocalSocket.pair()
        let silent = FileDescriptor(rawValue: theirs)
        let store = try RemoteStore(input: own, output: own, timeLimit: .milliseconds(50))
        await #expect(throws: StoreError.self) { try await store.status() }
        #expect(await store.ended()?.hasPrefix("no answer within") == true)
        try silent.close()
    }

    /// One late answer does not end a connection over which others come.
    ///
    /// The time limit counts for all calls, so it is as long as a slow machine may need for the answers that come.
    @Test func aLateAnswerEndsNoConnection() async throws {
        let gate = MemoryGate()
        let memory = MemoryStore()
        memory.setFault { if case .transact = $0 { .heldBefore(gate) } else { .none } }
        let (own, theirs) = try LocalSocket.pair()
        let server = try StoreServer(memory, input: theirs, output: theirs)
        Task { try await server.run() }
        let store = try RemoteStore(input: own, output: own, timeLimit: .seconds(10))
        let late = Task { try await store.transact(StoreTransaction(then: [])) }
        await gate.arrivals(1)
        _ = try await store.status()
        await #expect(throws: StoreError.self) { try await late.value }
        #expect(!store.hasEnded)
        _ = try await store.status()
        gate.open()
    }
}
