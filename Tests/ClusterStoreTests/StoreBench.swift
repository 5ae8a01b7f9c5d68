import ClusterStore
import ClusterStoreTesting
import SpaceTestSupport
import Testing

#if ETCD
import EtcdStore
#endif

/// The implementations of ``Store`` that the same tests examine.
enum StoreKind: String, CaseIterable, CustomTestStringConvertible, Sendable {
    /// The store of the tests, called directly.
    case memory
    /// The same store, as other processes have it.
    case socket
    #if ETCD
    case etcd

    /// Those that are here.
    static let present = allCases.filter { $0 != .etcd || EtcdPlace.here != nil }
    #else
    static let present = allCases
    #endif

    var testDescription: String { rawValue }
}

/// A store under test, with what a test does to it from outside.
final class StoreBench: Sendable {
    let kind: StoreKind
    let store: any Store
    /// What all keys of the test begin with: tests share an etcd.
    let prefix: String
    private let memory: MemoryStore?
    /// Where the socket is.
    private let folder: TemporaryRoot?

    #if ETCD
    /// One for all tests.
    private static let etcd = Result { () throws -> EtcdStore in
        try EtcdStore(StoreOptions(members: try #require(EtcdPlace.here).server))
    }
    #endif

    init(_ kind: StoreKind) throws {
        self.kind = kind
        prefix = "test/\(UInt64.random(in: .min ... .max))/"
        switch kind {
        case .memory:
            let memory = MemoryStore()
            (store, self.memory, folder) = (memory, memory, nil)
        case .socket:
            let memory = MemoryStore()
            let folder = try TemporaryRoot()
            _ = try SocketStoreServer(memory, at: "\(folder.path)/store")
            (store, self.memory, self.folder) = (try SocketStore("\(folder.path)/store"), memory, folder)
        #if ETCD
        case .etcd: (store, memory, folder) = (try Self.etcd.get(), nil, nil)
        #endif
        }
    }

    /// A key of this test.
    func key(_ name: String) -> String { prefix + name }

    /// All keys of this test.
    var all: StoreRange { .prefix(prefix) }

    @discardableResult
    func put(_ name: String, _ value: String = "", lease: StoreLease = .none) async throws -> Int64 {
        try await store.transact(StoreTransaction(then: [.put(key(name), Array(value.utf8), lease)])).revision
    }

    /// The names and values of this test's keys, in order.
    func contents() async throws -> [String] {
        try await store.read(all, limit: nil, keysOnly: false).rows.map { row in
            "\(row.key.dropFirst(prefix.count))=\(String(decoding: row.value, as: UTF8.self))"
        }
    }

    /// The names of a watch's changes, those of a deletion with a minus.
    func names(_ changes: [StoreChange]) -> [String] {
        changes.map { change in
            switch change {
            case .put(let row): String(row.key.dropFirst(prefix.count))
            case .deleted(let key, _): "-\(key.dropFirst(prefix.count))"
            }
        }
    }

    /// The next changes of a watch.
    func changes(
        _ iterator: inout AsyncThrowingStream<StoreNews, any Error>.AsyncIterator
    ) async throws -> (changes: [StoreChange], revision: Int64)? {
        while let news = try await iterator.next() {
            if case .changes(let changes, let revision) = news { return (changes, revision) }
        }
        return nil
    }

    /// Lets time pass until a lease that nothing keeps alive has ended; a real store's own clock does it.
    func letTimePass(_ duration: Duration) { memory?.advance(by: duration) }

    /// Forgets the changes up to and including a revision.
    func compact(through revision: Int64) throws {
        if let memory { return memory.compact(through: revision) }
        #if ETCD
        let place = try #require(EtcdPlace.here)
        let answer = try HTTPPost.send(
            place.server,
            "/v3/kv/compaction",
            #"{"revision":"\#(revision)","physical":true}"#
        )
        #expect(answer.hasPrefix("HTTP/1.1 200"), "\(answer)")
        #endif
    }
}
