import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Tuples that go from process to process.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct HandOffTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    @Test(arguments: ["take-wait 60000", "take-async"])
    func aBlockedTakeGetsWhatAnotherProcessWrites(_ take: String) throws {
        let namespace = try SpaceTest.namespace("jobs")
        let taker = try Agent(root, "jobs")
        let writer = try Agent(root, "jobs")
        try taker.block("\(take) [\"resize\", \"?int\", \"?string\"]", in: namespace)
        try writer.run(#"write ["resize", 42]"#)
        try writer.run(#"write ["crop", 42, "cat.png"]"#)
        try writer.run(#"write ["resize", 42, "cat.png"]"#)
        #expect(try taker.line() == #"ok ["resize",42,"cat.png"]"#)
        #expect(try namespace.count() == 2)
        #expect(try namespace.status().waiters == [])
    }

    @Test(arguments: ["read-wait 60000", "read-async"])
    func aBlockedReadLeavesTheTuple(_ read: String) throws {
        let namespace = try SpaceTest.namespace("jobs")
        let readers = [try Agent(root, "jobs"), try Agent(root, "jobs")]
        for reader in readers {
            try reader.send("\(read) [\"news\", \"?\"]")
            #expect(try reader.line() == "waiting")
        }
        #expect(try eventually { try namespace.status().waiters.count == 2 })
        try namespace.write("news", "today")
        for reader in readers { #expect(try reader.line() == #"ok ["news","today"]"#) }
        #expect(try namespace.count() == 1)
    }

    @Test func aRangeThatNoHashShowsIsServed() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let low = try Agent(root, "jobs")
        let high = try Agent(root, "jobs")
        for (agent, range) in [(low, "?0...9"), (high, "?10...19")] {
            try agent.block("take-wait 60000 [\"n\", \"\(range)\"]", in: namespace)
        }
        // The tuple is granted to the older waiter first, which can't use it and hands it on.
        try namespace.write("n", 12)
        #expect(try high.line() == #"ok ["n",12]"#)
        try namespace.write("n", 3)
        #expect(try low.line() == #"ok ["n",3]"#)
    }

    @Test func readersAndTakersTogetherAreAllServed() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let takers = [try Agent(root, "jobs"), try Agent(root, "jobs")]
        let reader = try Agent(root, "jobs")
        for agent in [reader] + takers {
            try agent.block("\(agent === reader ? "read" : "take")-wait 60000 [\"job\", \"?int\"]", in: namespace)
        }
        try namespace.write("job", 1)
        try namespace.write("job", 2)
        let taken = [try takers[0].line(), try takers[1].line()]
        #expect(Set(taken) == [#"ok ["job",1]"#, #"ok ["job",2]"#])
        // A reader may miss a tuple that was taken at once; the reader must not hold up a later one, nor be forgotten.
        try namespace.write("job", 3)
        #expect(try reader.line()?.hasPrefix("ok [\"job\",") == true)
        #expect(try namespace.takeIfExists("job", 3) != nil)
        #expect(try namespace.count() == 0)
    }

    /// In eight thousand hand-offs, with the waiting side asleep or about to be and others that may come first, no
    /// waiter is served by a tick, so no wake-up was lost.
    ///
    /// (A first waiter that is never granted anything, for instance, fails this.)
    @Test func noWakeUpIsLost() throws {
        let namespace = try SpaceTest.namespace("balls")
        let players = try (0..<4).map { _ in try Agent(root, "balls") }
        let count = 2000
        // Two pairs play: the tuples of both pairs have the same shape, and the tuples of one pair have the same names.
        try players[0].send("echo-loop ping pong \(count)")
        try players[1].send("echo-loop pong ping \(count)")
        try players[2].send("echo-loop ping pong \(count)")
        try players[3].send("echo-loop pong ping \(count)")
        try namespace.write("ping", 1)
        try namespace.write("ping", 2)
        for player in players { #expect(try player.line() == "ok 0") }
        #expect(try namespace.count() == 2)
    }

    @Test func everyTupleIsTakenOnce() throws {
        let namespace = try SpaceTest.namespace("jobs")
        let count = 2000
        let takers = try (0..<4).map { number in
            let taker = try Agent(root, "jobs")
            try taker.run("ledger \(Ledger(root, "taken-\(number)").path)")
            // One of the four never waits, and comes first when it can.
            try taker.send(number == 3 ? "barge-loop" : "take-loop 60000")
            return taker
        }
        let writers = try (0..<4).map { number in
            let writer = try Agent(root, "jobs")
            try writer.send("write-loop \(number * count) \(count)")
            return writer
        }
        for writer in writers { #expect(try writer.line() == "ok \(count)") }
        #expect(try eventually { try namespace.count() == 0 })
        try namespace.write("stop")
        #expect(try takers[3].line()?.hasPrefix("ok ") == true)
        // A taker notes its tuple only after the commit.
        let ledgers = (0..<4).map { Ledger(root, "taken-\($0)") }
        #expect(try eventually { try ledgers.reduce(0) { $0 + (try $1.numbers().count) } >= 4 * count })
        for taker in takers.prefix(3) { try taker.kill() }
        let taken = try ledgers.flatMap { try $0.numbers() }
        #expect(taken.sorted() == Array(0..<4 * count))
    }

    /// The same, with takers and writers killed at random: no acknowledged tuple is lost, and none is taken twice.
    ///
    /// A taker killed between its commit and its note leaves one tuple whose fate is unknown; there are never more of
    /// these than killed takers.
    @Test func killsLoseNothingAndDoubleNothing() throws {
        let namespace = try root.space.namespace("jobs")
        let rounds = 12
        var writers: [Agent] = []
        var takers: [Agent] = []
        var ledgers: (written: [Ledger], taken: [Ledger]) = ([], [])
        var next = 0
        func startWriter() throws {
            let ledger = Ledger(root, "written-\(ledgers.written.count)")
            ledgers.written.append(ledger)
            let writer = try Agent(root, "jobs")
            try writer.run("ledger \(ledger.path)")
            try writer.send("write-loop \(next) 1000000")
            next += 1_000_000
            writers.append(writer)
        }
        func startTaker() throws {
            let ledger = Ledger(root, "taken-\(ledgers.taken.count)")
            ledgers.taken.append(ledger)
            let taker = try Agent(root, "jobs")
            try taker.run("ledger \(ledger.path)")
            try taker.send("take-loop 60000")
            takers.append(taker)
        }
        for _ in 0..<4 {
            try startWriter()
            try startTaker()
        }
        for _ in 0..<rounds {
            // Waits for some progress, then kills a taker and a writer wherever they are.
            let before = try namespace.status().sequence
            #expect(try eventually { try namespace.status().sequence > before + UInt64.random(in: 50...400) })
            try takers.remove(at: Int.random(in: takers.indices)).kill()
            try startTaker()
            try writers.remove(at: Int.random(in: writers.indices)).kill()
            try startWriter()
        }
        for writer in writers { try writer.kill() }
        // The living takers take the rest, if no death hides any of it.
        #expect(try eventually { try namespace.count() == 0 })
        for taker in takers { try taker.kill() }

        let acknowledged = Set(try ledgers.written.flatMap { try $0.numbers() })
        let taken = try ledgers.taken.flatMap { try $0.numbers() }
        #expect(taken.count > 1000)
        #expect(Set(taken).count == taken.count, "a tuple was taken twice")
        let indeterminate = acknowledged.subtracting(taken)
        #expect(indeterminate.count <= ledgers.taken.count, "\(indeterminate.count) acknowledged tuples are gone")
        // A writer killed between its write and its note leaves at most one tuple that is taken and was not noted.
        #expect(Set(taken).subtracting(acknowledged).count <= ledgers.written.count)
        #expect(try namespace.verify() == [])
        #expect(try namespace.status().waiters == [] || !takers.isEmpty)
    }
}
