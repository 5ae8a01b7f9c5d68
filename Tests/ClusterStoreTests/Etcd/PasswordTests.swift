import ClusterStore
import EtcdStore
import Glibc
import SystemPackage
import Testing

/// A user of an etcd that demands passwords.
@Suite(.timeLimit(.minutes(2)), .enabled(if: EtcdPlace.here != nil, "tools/etcd/test runs this test"))
struct PasswordTests {
    /// After the password was changed, calls fail and say so, until the file has the new password.
    @Test func aChangedPasswordIsReadAgain() async throws {
        let place = try #require(EtcdPlace.here)
        let server = place.serverWithUsers
        func post(_ path: String, _ body: String, token: String = "") throws -> String {
            let answer = try HTTPPost.send(server, "/v3/auth/\(path)", body, token: token)
            #expect(answer.hasPrefix("HTTP/1.1 200"), "\(path): \(answer)")
            return answer
        }
        _ = try post("role/add", #"{"name":"root"}"#)
        for user in ["root", "daemon"] {
            _ = try post("user/add", #"{"name":"\#(user)","password":"one"}"#)
            _ = try post("user/grant", #"{"user":"\#(user)","role":"root"}"#)
        }
        _ = try post("enable", "{}")
        let password = FilePath("/tmp/space-test-password-\(getpid())")
        defer { unlink(password.string) }
        try Self.write("one\n", to: password)
        var options = StoreOptions(members: server)
        (options.user, options.passwordFile) = ("daemon", password.string)
        let store = try EtcdStore(options)
        let put = StoreTransaction(then: [.put("user", [], .none)])
        #expect(try await store.transact(put).held)
        let answer = try post("authenticate", #"{"name":"root","password":"one"}"#)
        let token = try #require(answer.firstMatch(of: /"token":"([^"]*)"/)).output.1
        _ = try post("user/changepw", #"{"name":"daemon","password":"two"}"#, token: String(token))
        let error = await #expect(throws: StoreError.self) { try await store.transact(put) }
        let reason = error?.refusedReason
        #expect(reason?.contains("check --user and --password-file") == true, "\(String(describing: error))")
        try Self.write("two\n", to: password)
        #expect(try await store.transact(put).held)
    }

    private static func write(_ text: String, to path: FilePath) throws {
        let file = try FileDescriptor.open(
            path,
            .writeOnly,
            options: [.create, .truncate],
            permissions: .ownerReadWrite
        )
        _ = try file.closeAfter { try file.writeAll(text.utf8) }
    }
}
