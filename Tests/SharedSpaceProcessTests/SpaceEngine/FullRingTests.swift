import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Writers that wait for a place in the full ring of the near end, and processes that wait for each other on one processor.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct FullRingTests {
    let root: TemporaryRoot

    /// The processor that all processes share in tests of a single one.
    private let processor = max(0, Int(Spin.processor) - 1)

    init() throws { root = try SpaceTest.root() }

    /// What disturbs the processes of a hand-off.
    enum Disturbance: String, CaseIterable { case nothing, signals, oneProcessor }

    private func agent(_ disturbance: Disturbance) throws -> Agent {
        let agent = try Agent(root, "n")
        switch disturbance {
        case .nothing: break
        // Each sleep is ended early (futex(2), EINTR).
        case .signals: try agent.run("interrupt-every 2")
        case .oneProcessor: try keep(thread: agent.pid, onProcessor: processor)
        }
        return agent
    }

    /// Writers outrun a taker in a ring of four: each tuple is taken once, in its writer's order.
    @Test(arguments: Disturbance.allCases)
    func everyTuplePassesOnce(_ disturbance: Disturbance) throws {
        let namespace = try SpaceTest.namespace("n")
        namespace.useNearEnd(of: 4)
        let writers = try [0, 1].map { _ in try agent(disturbance) }
        for (number, writer) in writers.enumerated() { try writer.send("write-loop \(number * 10_000) 3000") }
        var next = [0, 10_000]
        for _ in 0..<6000 {
            let number = try #require(try namespace.take("job", any(Int.self), timeout: watchdog)).1
            #expect(number == next[number / 10_000])
            next[number / 10_000] += 1
        }
        for writer in writers { #expect(try writer.line() == "ok 3000") }
        #expect(try namespace.count() == 0)
    }

    /// Two processes on one processor hand a tuple to and fro: neither is woken by a tick.
    @Test(arguments: Disturbance.allCases)
    func aBallGoesToAndFro(_ disturbance: Disturbance) throws {
        let namespace = try SpaceTest.namespace("n")
        let players = try [0, 1].map { _ in try agent(disturbance) }
        try players[0].send("echo-loop ping pong 2000")
        try players[1].send("echo-loop pong ping 2000")
        try namespace.write("ping", 7)
        for player in players { #expect(try player.line() == "ok 0") }
        #expect(try namespace.takeIfExists("ping", any(Int.self))?.1 == 7)
    }

    /// A taker that is stopped while a writer waits for a place keeps the writer for no longer than its limit.
    @Test func aStoppedTakerKeepsNoWriter() throws {
        let namespace = try SpaceTest.namespace("n")
        namespace.useNearEnd(of: 4)
        for number in 0..<4 { try namespace.write("job", number) }
        let writer = try Agent(root, "n")
        let taker = try Agent(root, "n")
        // It holds no lock when it stops, and wakes no writer.
        try taker.run("arm stop gateReleased")
        try taker.send("take [\"job\", 0]")
        try taker.waitUntilStopped()
        #expect(try writer.run("write-loop 4 20") == "20")
        taker.resume()
        #expect(try taker.line() == "ok [\"job\",0]")
        for number in 1..<24 { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
    }
}
