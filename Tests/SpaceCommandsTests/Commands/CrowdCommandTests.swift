import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("Crowds", .blocking, .timeLimit(.minutes(10)))
struct CrowdCommandTests {
    @Test("Takers that start at once all open the namespace, wait, and are served")
    func takersAtOnce() throws {
        let count = 250
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let jobs = try root.space.namespace("jobs")
        // Each taker prints its tuple, or why it has none.
        let take = #"space take jobs --wait 10m --timeout 60s "[\"job\",$n]""#
        let crowd = try runner.start("/bin/sh", ["-c", "for n in $(seq \(count)); do \(take) 2>&1 & done; wait"])
        #expect(try eventually { try jobs.status().waiters.count == count })
        for number in 1...count { try jobs.write("job", number) }
        let result = try crowd.finish()
        #expect(Set(result.lines) == Set((1...count).map { "[\"job\",\($0)]" }))
        #expect(try jobs.count() == 0)
        #expect(try jobs.verify() == [])
    }
}
