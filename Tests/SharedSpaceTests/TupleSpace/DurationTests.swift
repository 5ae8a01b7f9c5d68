import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// A negative expiry, delay, deadline or extension is refused, and changes nothing.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct DurationTests {
    let jobs: Namespace
    private static let negative = Duration.milliseconds(-5)

    init() throws { jobs = try SpaceTest.namespace("jobs") }

    private struct Job: Codable, Sendable { var id: Int }

    private func refuses(_ body: () throws -> Void, _ location: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: SpaceError.self, sourceLocation: location) { try body() }
        #expect(error?.code == .invalidArgument, sourceLocation: location)
    }

    @Test func aNegativeExpiryIsRefused() throws {
        refuses { try jobs.write("a", expires: Self.negative) }
        refuses { try jobs.write(tuple: ["a"], expires: Self.negative) }
        refuses { try jobs.write(record: Job(id: 1), expires: Self.negative) }
        refuses { try jobs.write(contentsOf: [["a"], ["b"]], expires: Self.negative) }
        refuses { try jobs.write(contentsOf: [], expires: Self.negative) }
        #expect(try jobs.status().sequence == 0)
        try jobs.write("never seen", expires: .zero)
        #expect(try jobs.count() == 0)
    }

    /// The refusal changes nothing, so a body that catches it goes on.
    @Test func aTransactionRefusesANegativeDurationAndGoesOn() throws {
        try jobs.write("job", 1)
        try jobs.transaction { t in
            let write = #expect(throws: SpaceError.self) { try t.write("lost", expires: Self.negative) }
            #expect(write?.code == .invalidArgument)
            let batch = #expect(throws: SpaceError.self) { try t.write(tuple: ["lost"], expires: Self.negative) }
            #expect(batch?.code == .invalidArgument)
            let claim = #expect(throws: SpaceError.self) {
                try t.claimIfExists(matching: ["job", .any], deadline: Self.negative)
            }
            #expect(claim?.code == .invalidArgument)
            try t.write("kept")
        }
        #expect(try jobs.readAll() == [["job", 1], ["kept"]])
    }

    @Test func aNegativeDeadlineOrExtensionOfAClaimIsRefused() throws {
        try jobs.write("job", 1)
        refuses { _ = try jobs.claimIfExists(matching: ["job", .any], deadline: Self.negative)?.detach() }
        #expect(try jobs.status().claims == [])
        let claim = try #require(try jobs.claimIfExists(matching: ["job", .any], deadline: .seconds(60))?.detach())
        refuses { try jobs.extend(claim, by: Self.negative) }
        try jobs.complete(claim)
    }

    @Test func aNegativeDelayInAQueueIsRefused() throws {
        let queue = jobs.queue("mail")
        refuses { try queue.put("a", delay: Self.negative) }
        refuses { try queue.put(Job(id: 1), delay: Self.negative) }
        #expect(try queue.counts()[.ready] == 0)
        try queue.put("b")
        guard let item = try queue.takeIfReady() else { throw TestFailure("no item") }
        do throws(SpaceError) {
            try item.release(delay: Self.negative)
            Issue.record("a negative delay is accepted")
        } catch {
            #expect(error.code == .invalidArgument)
        }
        // The item is still held, and can be completed.
        try item.complete()
    }

    /// A negative time-out is the rest of a time that has passed: such a wait looks once.
    @Test func aNegativeTimeoutHasPassed() async throws {
        #expect(try await jobs.take(matching: ["job"], timeout: Self.negative) == nil)
        try jobs.write("job")
        #expect(try await jobs.take(matching: ["job"], timeout: Self.negative) == ["job"])
    }
}
