import Glibc
import SharedSpace
import SpaceEngine
import SpaceInspection
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Watchers and the history are told of each deadlock, once, whichever process tells and however it ends.
///
/// That a circle is told once is seen when a second circle is told while the first still stands: the look that found
/// the second has found the first too.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct ToldDeadlockTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func namespace() throws -> Namespace {
        let namespace = try SpaceTest.namespace("n")
        try namespace.setHistory(History(changes: 1000))
        return namespace
    }

    /// Has processes each hold a lock and wait for the next one's, the last for the first's.
    ///
    /// `stopped`: How many of them are stopped as soon as they wait.
    private func circle(_ names: [String], in namespace: Namespace, stopped: Int = 0) throws -> [Agent] {
        let agents = try names.map { name in
            let agent = try Agent(root, namespace.name)
            try agent.send("lock-endless \(name)")
            #expect(try agent.line() == "waiting")
            #expect(try agent.line()?.hasPrefix("ok ") == true)
            return agent
        }
        for (index, agent) in agents.enumerated() {
            try agent.block("lock-endless \(names[(index + 1) % names.count])", in: namespace)
            if index < stopped { try agent.stop() }
        }
        return agents
    }

    /// The deadlocks that were told, each as its processes in order.
    private func told(_ namespace: Namespace) throws -> [[Int]] {
        try namespace.toldDeadlocks().map { change in
            guard case .object(let told)? = change.new, case .array(let circle)? = told["circle"] else { return [] }
            return circle.compactMap { step in
                guard case .object(let step) = step, case .int(let pid)? = step["pid"] else { return nil }
                return pid
            }
        }
    }

    /// The processes of a circle in which each waits for the next, as a deadlock names them.
    private func named(_ agents: [Agent]) -> [Int] {
        let pids = agents.map { Int($0.pid) }
        let first = pids.indices.min { pids[$0] < pids[$1] } ?? 0
        return Array(pids[first...] + pids[..<first])
    }

    private func expectTold(_ circles: [[Agent]], in namespace: Namespace) throws {
        let expected = circles.map(named)
        #expect(try eventually { try told(namespace).count >= expected.count })
        #expect(try told(namespace) == expected)
    }

    @Test("A circle of three processes is told once, a second one too, and a new one with a process of the first")
    func once() throws {
        let namespace = try namespace()
        let changes = try namespace.changes(.object())
        let first = try circle(["a", "b", "c"], in: namespace)
        try expectTold([first], in: namespace)
        let second = try circle(["d", "e", "f"], in: namespace)
        try expectTold([first, second], in: namespace)

        // The first circle ends with a process; the other two get what they wait for, one after the other.
        try first[2].kill()
        #expect(try first[1].line()?.hasPrefix("ok ") == true)
        let last = try Agent(root, "n")
        try last.send("lock-endless g")
        #expect(try last.line() == "waiting")
        #expect(try last.line()?.hasPrefix("ok ") == true)
        // The first process still waits for the second one's lock, as in the circle that was told.
        try first[1].block("lock-endless g", in: namespace)
        try last.block("lock-endless a", in: namespace)
        try expectTold([first, second, [first[0], first[1], last]], in: namespace)

        let deadlock = try #require(try namespace.toldDeadlocks().first)
        guard case .object(let value)? = deadlock.new, case .string(let text)? = value["text"] else {
            throw TestFailure("\(deadlock)")
        }
        for (index, name) in ["b", "c", "a"].enumerated() {
            let next = first[(index + 1) % 3].pid
            #expect(text.contains("\(first[index].pid) waits for the lock \"\(name)\" of \(next)"), "\(text)")
        }
        #expect(deadlock.key == nil && deadlock.old == nil)
        _ = changes
    }

    @Test("Processes of the circle that are stopped are a part of it; one that runs tells")
    func stopped() throws {
        let namespace = try namespace()
        let agents = try circle(["a", "b", "c"], in: namespace, stopped: 2)
        try expectTold([agents], in: namespace)
        #expect(try namespace.toldDeadlocks().first?.pid == agents[2].pid)
        for agent in agents { agent.resume() }
    }

    /// Has a process that takes no part tick for the namespace, with a crash point armed.
    private func teller(_ arming: String, in namespace: Namespace) throws -> Agent {
        let teller = try Agent(root, "n")
        try teller.run("arm \(arming)")
        try teller.block("take-wait 600000 [\"never\"]", in: namespace)
        #expect(
            try eventually {
                let session = namespace.core.control.ticker.sighting.session
                return session != 0 && namespace.core.liveness.process(ofSession: session)?.pid == teller.pid
            }
        )
        return teller
    }

    @Test(
        "A teller that is killed before its commit is followed by another",
        arguments: ["deadlockFound", "afterCommit"]
    )
    func killed(_ point: String) throws {
        let namespace = try namespace()
        let teller = try teller("kill \(point)", in: namespace)
        let first = try circle(["a", "b", "c"], in: namespace)
        #expect(try teller.ended() == .killed(by: SIGKILL))
        try expectTold([first], in: namespace)
        let second = try circle(["d", "e"], in: namespace)
        try expectTold([first, second], in: namespace)
    }

    @Test("A teller that was stopped before its commit does not tell what another has told")
    func overtaken() throws {
        let namespace = try namespace()
        let teller = try teller("stop deadlockFound", in: namespace)
        let first = try circle(["a", "b", "c"], in: namespace)
        try teller.waitUntilStopped()
        try expectTold([first], in: namespace)
        teller.resume()
        let second = try circle(["d", "e"], in: namespace)
        try expectTold([first, second], in: namespace)
    }

    @Test("Without a watcher or a history nothing is told; with one, what stands by then is")
    func late() throws {
        let namespace = try SpaceTest.namespace("n")
        let agents = try circle(["a", "b"], in: namespace)
        let sequence = try namespace.status().sequence
        // A look has come and gone when the ticker has ticked for two seconds.
        let ticks = namespace.core.control.ticker.sighting.ticks
        #expect(try eventually { namespace.core.control.ticker.sighting.ticks >= ticks + 10 })
        #expect(try namespace.status().sequence == sequence)
        try namespace.setHistory(History(changes: 1000))
        try expectTold([agents], in: namespace)
    }

    @Test("A circle that ends before its waits have lasted a second is not told")
    func short() throws {
        let namespace = try namespace()
        let begin = ContinuousClock.now
        let short = try circle(["a", "b"], in: namespace)
        try short[0].kill()
        #expect(try short[1].line()?.hasPrefix("ok ") == true)
        let isShort = ContinuousClock.now - begin < .seconds(1)
        let agents = try circle(["c", "d"], in: namespace)
        #expect(try eventually { try told(namespace).contains(named(agents)) })
        if isShort { #expect(try told(namespace) == [named(agents)]) }
    }

    @Test("Observers of one object get a deadlock only if they ask for it, those of all objects do")
    func filters() throws {
        let namespace = try namespace()
        let all = try namespace.changes(.object())
        let asking = try namespace.changes(ChangeFilter(objects: .named("b"), kinds: [.deadlock]))
        let plain = try namespace.changes(.object("b"))
        let other = try namespace.changes(ChangeFilter(objects: .named("x"), kinds: [.deadlock]))
        let cells = try namespace.changes(.cells())
        try namespace.set("k", 1)
        let agents = try circle(["a", "b"], in: namespace)
        try expectTold([agents], in: namespace)
        func kinds(_ changes: Changes) throws -> [ChangeKind] {
            var kinds: [ChangeKind] = []
            while let change = try changes.nextBlocking(timeout: .zero, interruption: nil) { kinds.append(change.kind) }
            return kinds
        }
        #expect(try kinds(all) == [.hold, .hold, .deadlock])
        #expect(try kinds(asking) == [.deadlock])
        #expect(try kinds(plain) == [.hold])
        #expect(try kinds(other) == [])
        #expect(try kinds(cells) == [.set])
    }
}
