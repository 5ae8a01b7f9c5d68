import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The examples of "Claims and transactions".
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct ClaimsExamples {
    let jobs: Namespace

    init() throws { jobs = try SpaceTest.namespace("jobs") }

    private func resize(_ file: String) throws -> Int { file.utf8.count }

    @Test func aClaimWithABody() async throws {
        func resize(_ file: String) async throws { #expect(file == "cat.png") }
        try jobs.write("resize", 1, "cat.png")
        try await jobs.claim("resize", any(Int.self), any(String.self)) { _, id, file in
            try await resize(file)
        }
        #expect(try jobs.count() == 0)
    }

    @Test func aTransaction() throws {
        let accounts = jobs
        try accounts.write("balance", 7)
        try accounts.transaction { t in
            guard let (_, balance) = try t.takeIfExists("balance", any(Int.self)) else { return }
            try t.write("balance", balance - 1)
        }
        #expect(try accounts.readAll() == [["balance", 6]])
    }

    @Test func doneAndResultInOneStep() async throws {
        try jobs.write("resize", 1, "cat.png")
        let claim = try await jobs.claim("resize", any(Int.self), any(String.self))
        let size = try resize(claim.content.2)
        try claim.complete { t in try t.write("resized", claim.content.1, size) }
        #expect(try jobs.readAll() == [["resized", 1, 7]])
    }

    @Test func aDelayedRelease() async throws {
        try jobs.write("resize", 1, "cat.png")
        let claim = try await jobs.claim("resize", any(Int.self), any(String.self))
        try claim.release(delay: .seconds(30))
        #expect(try jobs.takeIfExists("resize", any(Int.self), any(String.self)) == nil)
    }

    @Test func exactlyOnce() async throws {
        let (inbox, outbox) = (jobs, try SpaceTest.namespace("outbox"))
        for _ in 0..<2 {
            try inbox.write("job", 7)
            func pass() async throws {
                let claim = try await inbox.claim("job", any(Int.self))
                let id = claim.content.1
                try outbox.transaction { t in
                    // The same job again, because the last attempt ended between here and the completion?
                    guard try t.setIfAbsent("seen.\(id)", true) else { return }
                    try t.write("job", id)
                }
                try claim.complete()
            }
            try await pass()
        }
        #expect(try outbox.readAll() == [["job", 7]])
        #expect(try inbox.count() == 0)
    }
}
