import SharedSpaceObjects
import SpaceTestSupport
import SpaceTesting
import Testing

/// The examples of "Cells".
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct CellsExamples {
    let root: TemporaryRoot
    let app: Namespace

    init() throws {
        root = try SpaceTest.root()
        app = try SpaceTest.namespace("App")
    }

    @Test func values() throws {
        struct Settings: Codable, Equatable {
            var retries = 3
            var host = "ada"
        }

        try app.set("settings", Settings())  // the old value, or nil
        let settings: Settings? = try app.get("settings")
        try app.setIfAbsent("settings", Settings(retries: 5))  // false: it is set
        try app.set("settings", Settings(retries: 4), ifEquals: Settings())  // compare-and-set
        let taken: Settings? = try app.take(key: "settings")  // and it is no longer set
        #expect(settings == Settings() && taken == Settings(retries: 4))
        #expect(try app.cells().isEmpty)
    }

    @Test func versions() throws {
        try app.set("plan", "begun")
        while let seen = try app.details(of: "plan") {
            guard case .string(let plan) = seen.value else { break }
            if try app.set("plan", plan + ", done", ifVersion: seen.version) { break }
        }
        #expect(try app.get("plan") == "begun, done")
    }

    @Test func expiry() throws {
        try app.set("lease", "worker 7", expires: .seconds(30))
        let left = try app.details(of: "lease")?.expiry  // about 30 seconds
        try app.renew("lease", expires: .seconds(30))  // false once it has expired
        try app.persist("lease")  // now it stays

        let id = try app.write(tuple: ["code", 4711], expires: .seconds(600))
        try app.renew(id, expires: .seconds(60))  // tuples by their ids
        #expect(try #require(left) <= .seconds(30))
        #expect(try app.details(of: "lease")?.expiry == nil)
        #expect(try #require(try app.expiry(of: id)) <= .seconds(60))
    }

    @Test func sessions() throws {
        try app.set("member/7", ["host": "ada"], lifetime: .session)
        try app.write("worker", 7, lifetime: .session)
        #expect(try app.details(of: "member/7")?.endsWithProcess == true)
        #expect(try app.count() == 1)
    }

    @Test func oneLiners() async throws {
        final class Model: Sendable {}
        let (space, model) = (root.space, Model())
        try space["App"].set("k", 1)
        let k: Int? = try space["App"].get("k")
        let waited: Int? = try await space["App"].take(key: "k", timeout: .seconds(5))
        try space["App", for: model].set("title", "Untitled")  // until model is gone
        #expect(k == 1 && waited == 1)
        #expect(try app.get("title") == "Untitled")
        try space["App"].letGo()
        withExtendedLifetime(model) {}
    }
}
