import ClusterStore
import ClusterStoreTesting
import SpaceEngine
import SpaceMachines
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

@testable import SpaceCluster

/// One name, and the lives of namespaces that have it one after the other.
@Suite(.timeLimit(.minutes(5)))
struct NamespaceSlotTests {
    private let name: NamespaceName
    private let first = NamespaceLife(number: 1)
    private let second = NamespaceLife(number: 2)

    init() throws { name = try NamespaceName("n") }

    /// Processes of a life that has ended are told so, and not that the daemon will be back.
    @Test func anEndedLifeIsGone() async throws {
        let store = MemoryStore()
        let keys = try ClusterKeys(prefix: "p", space: "s")
        let settings = ClusterSettings()
        let root = try TemporaryRoot()
        let registrar = Registrar(
            store: store,
            keys: keys,
            settings: settings,
            value: MemberValue(machine: "m", place: [])
        )
        let membership = try await registrar.register()
        // A namespace without a base: it waits for one until its slot ends it.
        let id = keys.id(name)
        _ = try await store.transact(
            StoreTransaction(then: [.put(id, NumberValue(first.number).encoded, .none)])
        )
        let ended = EndedLives(store: store, keys: keys)
        let watch = SpaceWatch(store, keys, settings)
        let had = Had()
        let slot = NamespaceSlot(
            name,
            make: { [name] life in
                LiveNamespace(
                    keys: keys.namespace(name, life),
                    store: store,
                    root: LocalReplicas(root.space),
                    settings: settings,
                    registrar: registrar,
                    membership: membership,
                    endedLives: ended,
                    watch: watch,
                    isFounding: { false }
                )
            },
            removeEarlier: {},
            change: { namespace in had.note(namespace) }
        )
        await slot.set(first)
        let running = Task { await slot.run() }
        defer { running.cancel() }
        #expect(try await eventually { had.namespaces.count == 1 })
        let old = try #require(had.namespaces.first)
        await slot.set(second)
        // The store does not have the second life, so it may end before this test looks again.
        #expect(try await eventually { had.namespaces.count == 2 })
        #expect(had.namespaces.map(\.keys.life) == [first, second])
        #expect(await old.appender.fetchPen(for: .connection(1), isExact: true) == .gone)
        // What waits for this machine to take part in the ended life is told at once.
        #expect(await !old.waitUntilEntered(until: .now.advanced(by: .seconds(3600))))
    }

    /// The namespaces that the slot has had, one after the other.
    private final class Had: Sendable {
        private let noted = Mutex<[LiveNamespace]>([])

        var namespaces: [LiveNamespace] { noted.withLock { $0 } }

        func note(_ namespace: LiveNamespace?) {
            guard let namespace else { return }
            noted.withLock { $0.append(namespace) }
        }
    }

    /// News that comes late ends no life that this machine has founded since.
    @Test func lateNewsEndsNoLife() {
        var lives = KnownLives()
        lives.learn(all: [name: first], at: 10)
        lives.learn(name, second, at: 12)
        lives.learn(name, nil, at: 11)
        #expect(!lives.isGone(name, second.number))
        #expect(lives.isGone(name, first.number))
        lives.learn(name, nil, at: 13)
        #expect(lives.isGone(name, second.number))
    }

    /// A reading spares what was founded after it.
    @Test func aReadingSparesWhatCameAfterIt() {
        var lives = KnownLives()
        #expect(!lives.isGone(name, first.number))
        lives.beginReading()
        lives.learn(name, second, at: 12)
        lives.learn(all: [:], at: 11)
        #expect(lives[name] == second)
    }

    /// After the store was set back, a reading counts although its revision is lower.
    @Test func aReadingCountsAfterASetBack() {
        var lives = KnownLives()
        lives.learn(all: [name: second], at: 100)
        lives.beginReading()
        lives.learn(all: [name: first], at: 10)
        #expect(lives[name] == first)
    }
}
