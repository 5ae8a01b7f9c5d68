import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Waits for a lock, an election, a permit and an item of a queue, whose machine becomes another member, or whose store does
/// not answer.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct TurnWaitTests {
    private static let commands = [
        ["lock", "n", "L"], ["elect", "n", "E"], ["semaphore", "n", "S", "--permits", "1"],
        ["queue", "n", "Q", "take"],
    ]

    /// A process that waits for a turn, and holds nothing yet, goes on waiting when its machine becomes another member.
    @Test(arguments: commands)
    func aWaitOutlivesItsMember(_ command: [String]) throws {
        let cluster = try TestCluster()
        let n = try cluster.namespaces()
        let lock = try n[0].lock("L").acquire(timeout: watchdog).inTime()
        let permit = try n[0].semaphore("S", permits: 1).acquire(timeout: watchdog).inTime()
        let leadership = try n[0].election("E").stand(as: "me", timeout: watchdog).inTime()
        func waiting() throws -> Int { try n[0].status().holds.count { !$0.isHeld } }
        let waiter = try Waiter(command, on: cluster[1])
        // It sleeps, and so has the answer to what it has written.
        #expect(try eventually { try waiting() == 1 && Waiter.isAsleep(in: n[1]) })
        try cluster.end(1, by: SIGKILL)
        #expect(try eventually { try waiting() == 0 })
        try cluster.start(1)
        #expect(try eventually { try waiting() == 1 })
        try lock.release()
        try permit.release()
        try leadership.release()
        try n[0].queue("Q").put("item")
        try waiter.hasItsTurn()
    }

    /// A process that begins to wait while the store has no leader enters the queue when it has one.
    ///
    /// If the time passes before, it says why.
    @Test(arguments: commands)
    func aWaitBeginsWithoutALeader(_ command: [String]) throws {
        let (cluster, n) = try Self.machine()
        try cluster.tell("leader no")
        let late = try cluster[0].runner.start("space", command + ["--wait", "1s", "--", "true"]).finish()
        #expect(late.ending == .exited(75), "\(late.errors)")
        let waiter = try Waiter(command, on: cluster[0])
        #expect(try eventually { try Waiter.isAsleep(in: n) })
        #expect(try !n.status().holds.contains { !$0.isHeld })
        try cluster.tell("leader yes")
        try waiter.hasItsTurn()
    }

    /// A process that does not know whether it has entered the queue finds out, and waits in one place.
    @Test(arguments: commands)
    func aWaitOutlivesAnUnknownOutcome(_ command: [String]) throws {
        let (cluster, n) = try Self.machine()
        try cluster.stopStore()
        let waiter = try Waiter(command, on: cluster[0])
        #expect(try eventually { try Waiter.isAsleep(in: n) })
        cluster.continueStore()
        try waiter.hasItsTurn()
        #expect(try n.status().holds.isEmpty)
        #expect(try n.queue("Q").counts()[.ready] == (command.contains("queue") ? 1 : 2))
    }

    /// A machine whose daemon stays a member, with two items in a queue.
    private static func machine() throws -> (TestCluster, Namespace) {
        let cluster = try TestCluster(machines: 1)
        let n = try cluster.namespaces()[0]
        for item in ["item", "other"] { try n.queue("Q").put(item) }
        return (cluster, n)
    }

    /// A command that waits for its turn, for longer than a test.
    private struct Waiter {
        private let command: RunningCommand

        init(_ words: [String], on machine: TestCluster.Machine) throws {
            command = try machine.runner.start("space", words + ["--wait", "100s", "--", "true"])
        }

        static func isAsleep(in namespace: Namespace) throws -> Bool {
            try namespace.status().waiters.contains { !$0.template.isEmpty }
        }

        func hasItsTurn() throws {
            let end = try command.finish()
            #expect(end.ending == .exited(0), "\(end.errors)")
        }
    }
}
