import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Blocked handlers delay no other observer, however many of them there are.
@Suite(.spaceTest, .timeLimit(.minutes(5))) struct BlockedHandlerTests {
    @Test func twoHundredBlockedHandlersHoldUpNoOtherObserver() async throws {
        let root = try SpaceTest.root()
        let jobs = try SpaceTest.namespace("jobs")
        let others = try root.space.namespace("others")
        let gate = Barrier()
        // The handlers end with the test, even if it fails.
        defer { gate.open() }
        let (ended, here, there) = (Count(), Told(), Told())
        let blocked = try (0..<200).map { _ in
            try jobs.observe("blocks") { (_: Change) in
                gate.wait()
                ended.add()
            }
        }
        let tokens = try [jobs.observe("flows") { here.note($0) }, others.observe("flows") { there.note($0) }]
        try jobs.set("blocks", 1)
        #expect(try await eventually { gate.arrivals.value == 200 })
        for number in 0..<10 {
            try jobs.set("flows", number)
            try others.set("flows", number)
            #expect(try await eventually { here.count == number + 1 && there.count == number + 1 })
        }
        #expect(ended.value == 0)
        gate.open()
        #expect(try await eventually { ended.value == 200 })
        // The handlers go on where they were.
        try jobs.set("blocks", 2)
        #expect(try await eventually { ended.value == 400 })
        for token in blocked + tokens { token.cancel() }
    }
}
