import ClusterStore
import EtcdStore
import Glibc
import Testing

/// An etcd that is reached by https, and wants a certificate of its clients.
///
/// Its own is for `localhost` alone.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: EtcdPlace.here != nil, "tools/etcd/test runs these tests"))
struct TLSTests {
    private let place: EtcdPlace

    init() throws { place = try #require(EtcdPlace.here) }

    /// Puts a key; `options` name files of the folder.
    private func put(to url: String, _ options: [String]) async throws {
        var all = StoreOptions(members: url)
        for number in stride(from: 0, to: options.count, by: 2) {
            let file = "\(place.certificates)/\(options[number + 1])"
            switch options[number] {
            case "--ca": all.authorities = file
            case "--cert": all.certificate = file
            default: all.key = file
            }
        }
        let store = try EtcdStore(all)
        #expect(try await store.transact(StoreTransaction(then: [.put("tls", [], .none)])).held)
    }

    @Test func certificatesThatFitAreEnough() async throws {
        let options = ["--ca", "ca.pem", "--cert", "client.pem", "--key", "client.key"]
        try await put(to: "https://localhost:\(place.securePort)", options)
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
    func others(_ host: String, _ options: [String], _ words: String) async throws {
        let error = await #expect(throws: StoreError.self) {
            try await put(to: "\(host):\(place.securePort)", options)
        }
        #expect(error?.unavailableReason?.contains(words) == true, "\(String(describing: error))")
    }

    @Test func httpsWhereThereIsNone() async throws {
        let url = place.server.replacing("http://", with: "https://")
        let error = await #expect(throws: StoreError.self) { try await put(to: url, ["--ca", "ca.pem"]) }
        #expect(error?.unavailableReason?.contains("perhaps it is http") == true, "\(String(describing: error))")
    }

    /// The reason is told at once, also where open(2) would wait for a writer.
    @Test(arguments: [("fifo", "no regular file"), ("folder", "no regular file"), ("none", "No such file")])
    func noFile(_ name: String, _ words: String) async throws {
        let folder = "\(place.certificates)/no-file"
        defer { for made in ["fifo", "folder", ""] { remove("\(folder)/\(made)") } }
        #expect(mkdir(folder, 0o700) == 0)
        #expect(mkfifo("\(folder)/fifo", 0o600) == 0 && mkdir("\(folder)/folder", 0o700) == 0)
        let error = await #expect(throws: StoreError.self) {
            try await put(to: "https://localhost:\(place.securePort)", ["--ca", "no-file/\(name)"])
        }
        let told = String(describing: error)
        #expect(told.contains("--ca") && told.contains(words), "\(told)")
    }
}
