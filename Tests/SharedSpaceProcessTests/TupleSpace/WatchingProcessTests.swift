import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// The changes that watchers are told, compared with those that other processes write at the same time.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct WatchingProcessTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    /// A watcher with a ledger of its own.
    private func watcher(_ name: String, _ options: String = "owning=0") throws -> (
        agent: Agent, ledger: Ledger, start: UInt64
    ) {
        let agent = try Agent(root, "n", options)
        let ledger = Ledger(root, name)
        try agent.run("ledger \(ledger.path)")
        return (agent, ledger, try #require(UInt64(try agent.run("watch"))))
    }

    /// Forty thousand changes, by four processes at once, come to each of three others: all, once, in the same
    /// order.
    @Test func everyWatcherIsToldEverythingInOneOrder() throws {
        let namespace = try SpaceTest.namespace("n")
        let watchers = try (0..<3).map { try watcher("seen-\($0)") }
        let writers = try (0..<4).map { _ in try Agent(root, "n") }
        // Each round stays within the journal's bound, so a watcher that is late on a busy machine gets no gap either.
        let (rounds, count) = (2, 5000)
        var last = try namespace.status().sequence
        #expect(watchers.allSatisfy { $0.start == last })
        for round in 0..<rounds {
            let first = last + 1
            last += UInt64(writers.count * count)
            for watcher in watchers { try watcher.agent.send("follow 0 \(last)") }
            for (number, writer) in writers.enumerated() {
                try writer.send("write-batches \((number * rounds + round) * count) \(count)")
            }
            for writer in writers { #expect(try writer.line() == "ok \(count)") }
            let told = try watchers.map { try Followed($0.agent.line()) }
            #expect(told.allSatisfy { $0 == told[0] })
            #expect(told[0].first == first && told[0].last == last && told[0].received == writers.count * count)
            #expect(told[0].gaps == 0)
        }
        #expect(try namespace.status().sequence == last)
        let written = try numbers(in: namespace)
        #expect(written.sorted() == Array(0..<rounds * writers.count * count))
        for watcher in watchers { #expect(try watcher.ledger.numbers() == written) }
    }

    /// Writers are killed wherever they are: watchers are told every committed change, and nothing else.
    @Test func killedWritersLeaveNoHoleAndNothingTwice() throws {
        let namespace = try SpaceTest.namespace("n")
        let watchers = try (0..<2).map { try watcher("seen-\($0)") }
        for watcher in watchers { try watcher.agent.send("follow 0 0") }
        // All that they may write stays within the journal's bound.
        let (rounds, most) = (9, 5000)
        var writers: [(agent: Agent, ledger: Ledger)] = []
        var next = 0
        var unfinished = 0
        func startWriter() throws {
            let agent = try Agent(root, "n")
            let ledger = Ledger(root, "written-\(next)")
            try agent.run("ledger \(ledger.path)")
            try agent.send("write-loop \(next) \(most)")
            next += most
            writers.append((agent, ledger))
        }
        func killOne() throws {
            let writer = writers.remove(at: Int.random(in: writers.indices))
            try writer.agent.kill()
            if try writer.ledger.numbers().count < most { unfinished += 1 }
        }
        for _ in 0..<3 { try startWriter() }
        for _ in 0..<rounds {
            let youngest = try #require(writers.last).ledger
            let progress = Int.random(in: 1...100)
            #expect(try eventually { try youngest.numbers().count >= progress })
            try killOne()
            try startWriter()
        }
        while !writers.isEmpty { try killOne() }
        #expect(unfinished > rounds / 2, "most writers had ended before they were killed")
        try namespace.post("end")
        let last = try namespace.status().sequence
        let told = try watchers.map { try Followed($0.agent.line()) }
        #expect(told[0] == told[1] && told[0].gaps == 0)
        #expect(told[0].first == watchers[0].start + 1 && told[0].last == last)
        let committed = try numbers(in: namespace)
        for watcher in watchers { #expect(try watcher.ledger.numbers() == committed) }
    }

    /// Watchers that fall behind the journal's bound are told gaps: the changes and the gaps make up the whole.
    @Test func slowWatchersGetGapsThatCoverWhatTheyMissed() throws {
        let namespace = try SpaceTest.namespace("n")
        let fast = try watcher("fast")
        let slow = try (0..<2).map { try watcher("slow-\($0)") }
        let writers = try (0..<4).map { _ in try Agent(root, "n") }
        // Two values of 32 KiB for each change: the journal's 16 MiB hold 256.
        let (rounds, count, size) = (4, 100, 32 << 10)
        var told: [[Followed]] = [[], []]
        for round in 0..<rounds {
            try fast.agent.send("follow 0 \(fast.start + UInt64((round + 1) * writers.count * count))")
            for (number, writer) in writers.enumerated() {
                try writer.send("set-loop k\(number) \((number * rounds + round) * count) \(count) \(size)")
            }
            // The slow watchers follow while the others write, and no more than that in this round.
            for (number, watcher) in slow.enumerated() { try watcher.agent.send("follow \(number == 0 ? 1 : 40) 0") }
            for (number, watcher) in slow.enumerated() { told[number].append(try Followed(watcher.agent.line())) }
            for writer in writers { #expect(try writer.line() == "ok \(count)") }
            _ = try Followed(fast.agent.line())
        }
        let last = try namespace.status().sequence
        #expect(last == fast.start + UInt64(rounds * writers.count * count))
        for (number, watcher) in slow.enumerated() {
            told[number].append(try Followed(watcher.agent.run("follow 0 \(last)")))
            var next = watcher.start + 1
            for part in told[number] {
                #expect(part.first == next)
                next = part.last + 1
            }
            #expect(next == last + 1)
            let received = told[number].reduce(0) { $0 + $1.received }
            let missed = told[number].reduce(0) { $0 + $1.missed }
            #expect(missed > 0 && told[number].contains { $0.gaps > 0 })
            #expect(UInt64(received) + missed == last - watcher.start)
            // No number comes twice, and each writer's numbers come in order.
            let numbers = try watcher.ledger.numbers()
            #expect(numbers.count == received)
            for writer in writers.indices {
                let own = numbers.filter { $0 / (rounds * count) == writer }
                #expect(own == own.sorted() && Set(own).count == own.count)
            }
        }
    }

    /// Ten thousand changes come while the only watcher asks for nothing, or cannot ask because its process is stopped.
    ///
    /// Each write is answered before the watcher goes on.
    @Test(arguments: [false, true])
    func aConsumerThatDoesNotAskHoldsNobodyUp(isStopped: Bool) throws {
        let namespace = try SpaceTest.namespace("n")
        let watcher = try watcher("seen")
        let writer = try Agent(root, "n")
        if isStopped { try watcher.agent.stop() }
        let count = 10_000
        try writer.run("write-loop 0 \(count)")
        if isStopped { watcher.agent.resume() }
        let told = try Followed(watcher.agent.run("follow 0 \(namespace.status().sequence)"))
        #expect(told.received == count && told.gaps == 0 && told.first == watcher.start + 1)
        #expect(try watcher.ledger.numbers() == Array(0..<count))
    }

    @Test func whatIsWrittenBeforeTheFirstReadIsTold() throws {
        let namespace = try SpaceTest.namespace("n")
        try namespace.write("job", 0)
        let watcher = try watcher("seen")
        let writer = try Agent(root, "n")
        try writer.run("write-loop 1 3")
        #expect(try namespace.takeIfExists("job", 2) != nil)
        try writer.exit()
        let told = try Followed(watcher.agent.run("follow 4 0"))
        #expect(told.first == watcher.start + 1 && told.received == 4)
        #expect(try watcher.ledger.numbers() == [1, 2, 3, 2])
    }

    /// A registration has its place in the order of all changes, with two processes that write all the time, whether or
    /// not another watcher is registered.
    @Test(arguments: [false, true])
    func theFirstChangeIsTheOneAfterTheRegistration(othersWatch: Bool) throws {
        _ = try SpaceTest.namespace("n")
        let other = othersWatch ? try watcher("other") : nil
        let writers = try (0..<2).map { number in
            let writer = try Agent(root, "n")
            try writer.send("write-loop \(number * 1_000_000) 1000000")
            return writer
        }
        let watcher = try Agent(root, "n", "owning=0")
        #expect(try watcher.run("register-rounds 40") == "40")
        for writer in writers { try writer.kill() }
        _ = other
    }

    /// Eight hundred hand-offs, each from a told change to a write: with ticks alone, four a second, the watchdog would
    /// end the test.
    @Test func theBellIsHeard() throws {
        let namespace = try SpaceTest.namespace("n")
        let players = try (0..<2).map { try watcher("player-\($0)").agent }
        try players[0].send("echo-changes ping pong 400")
        try players[1].send("echo-changes pong ping 400")
        try namespace.write("ping", 1)
        for player in players { #expect(try player.line() == "ok 400") }
        #expect(try namespace.count() == 801)
    }

    private func numbers(in namespace: Namespace) throws -> [Int] {
        try namespace.readAll(matching: ["job", .any]).compactMap { tuple in
            guard case .int(let number) = tuple[1] else { return nil }
            return number
        }
    }
}
