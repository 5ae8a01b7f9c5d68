import ClusterStore
import ClusterStoreRemote
import Glibc
import Testing

/// An etcd that is reached by https, and wants a certificate of its clients.
///
/// Its own is for `localhost` alone.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: TLSPlace.here != nil, "tools/etcd/test runs these tests on an etcd of its own")
)
struct TLSTests {
    private let place: TLSPlace

    init() throws { place = try #require(TLSPlace.here) }

    @Test func certificatesThatFitAreEnough() async throws {
        try await place.put(to: "https://localhost", ["--ca", "ca.pem", "--cert", "client.pem", "--key", "client.key"])
    }

    /// Each of these must fail, and say what is wrong with what.
    @Test(arguments: [
        ("https://localhost", ["--ca", "other.pem", "--cert", "client.pem", "--key", "client.key"], "--ca"),
        ("https://localhost", ["--cert", "client.pem", "--key", "client.key"], "--ca"),
        ("https://127.0.0.1", ["--ca", "ca.pem", "--cert", "client.pem", "--key", "client.key"], "for another host"),
        ("https://localhost", ["--ca", "ca.pem"], "--cert"),
        ("https://localhost", ["--ca", "ca.pem", "--cert", "other.pem", "--key", "other.key"], "--cert"),
        ("http://localhost", [], "perhaps it wants https"),
    ])
    func others(_ url: String, _ options: [String], _ words: String) async throws {
        let error = await #expect(throws: StoreError.self) { try await place.put(to: url, options) }
        guard case .unavailable(let reason) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(reason.contains(words), "\(reason)")
    }

    @Test func httpsWhereThereIsNone() async throws {
        let port = try #require(getenv("SPACE_ETCD_SERVER").map { String(cString: $0) }?.split(separator: ":").last)
        let error = await #expect(throws: StoreError.self) {
            try await place.put(to: "https://localhost", ["--ca", "ca.pem"], port: String(port))
        }
        guard case .unavailable(let reason) = error else { return #expect(Bool(false), "\(String(describing: error))") }
        #expect(reason.contains("perhaps it is http"), "\(reason)")
    }
}

/// The etcd and the certificates that tools/etcd/test has made.
private struct TLSPlace {
    let program: String
    let port: String
    let folder: String

    static let here = EtcdPlace.here.flatMap { place -> TLSPlace? in
        guard let port = getenv("SPACE_ETCD_TLS_PORT"), let folder = getenv("SPACE_ETCD_TLS_FOLDER") else { return nil }
        return TLSPlace(program: place.program, port: String(cString: port), folder: String(cString: folder))
    }

    /// Puts a key; `options` name files of the folder.
    func put(to url: String, _ options: [String], port: String? = nil) async throws {
        let options = options.map { $0.hasPrefix("--") ? $0 : "\(folder)/\($0)" }
        let process = try StoreProcess(program, ["--etcd", "\(url):\(port ?? self.port)"] + options)
        #expect(try await process.store.transact(StoreTransaction(then: [.put("tls", [], .none)])).held)
    }
}
