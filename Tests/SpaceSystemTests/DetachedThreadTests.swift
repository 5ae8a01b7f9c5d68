import SpaceSystem
import Testing

@Suite("Threads")
struct DetachedThreadTests {
    @Test("A thread handles none of the signals that are meant for the first one, not even before it has begun")
    func signals() throws {
        let probe = try Probe("thread-signals")
        #expect(try probe.line() == "handled by the first thread: true, by others: 0")
    }
}
