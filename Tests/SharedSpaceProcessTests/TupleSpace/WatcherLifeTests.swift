import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// Watchers and writers that are killed, the rows and resources that they leave behind, and the end of a watched
/// namespace.
@Suite(.spaceTest, .serialized, .timeLimit(.minutes(5)))
struct WatcherLifeTests {
    let root: TemporaryRoot

    init() throws { root = try SpaceTest.root() }

    private func watcher(_ options: String = "owning=0") throws -> Agent {
        let agent = try Agent(root, "n", options)
        try agent.run("watch")
        return agent
    }

    /// A subscriber is killed over and over, wherever it is: the next one goes on after what was acknowledged.
    @Test func aSubscriptionOutlivesItsWatchers() throws {
        let namespace = try SpaceTest.namespace("n")
        let lives = 6
        let count = 6000
        let writer = try Agent(root, "n")
        var ledgers: [[Int]] = []
        for life in 0..<lives {
            let ledger = Ledger(root, "life-\(life)")
            let subscriber = try Agent(root, "n", "owning=0")
            try subscriber.run("ledger \(ledger.path)")
            try subscriber.run("subscribe log")
            #expect(try namespace.status().watchers.map(\.subscription) == ["log"])
            // The writer begins only now, because a subscription begins with its first registration.
            if life == 0 { try writer.send("write-loop 0 \(count)") }
            try subscriber.send("acknowledge-loop")
            if life < lives - 1 {
                let progress = Int.random(in: 1...400)
                #expect(try eventually { try ledger.numbers().count >= progress })
                try subscriber.kill()
            } else {
                #expect(try writer.line() == "ok \(count)")
                try namespace.post("end")
                #expect(try subscriber.line()?.hasPrefix("ok ") == true)
            }
            ledgers.append(try ledger.numbers())
        }
        var next = 0...0
        for notes in ledgers {
            // A ledger has a number, then its complement once its acknowledgement was committed.
            let seen = notes.filter { $0 >= 0 }
            let acknowledged = notes.filter { $0 < 0 }.map { ~$0 }
            #expect(acknowledged == Array(seen.prefix(acknowledged.count)) && seen.count - acknowledged.count <= 1)
            let first = try #require(seen.first)
            #expect(next.contains(first), "\(first) came after a life that ended before \(next)")
            #expect(seen == Array(first..<first + seen.count))
            // A change whose acknowledgement was not noted may have been acknowledged.
            next = first + acknowledged.count...first + seen.count
        }
        #expect(next == count...count)
        #expect(try namespace.endSubscription("log"))
    }

    @Test func aSubscriptionHasOneProcess() throws {
        let namespace = try SpaceTest.namespace("n")
        let first = try Agent(root, "n", "owning=0")
        try first.run("subscribe log")
        let second = try Agent(root, "n", "owning=0")
        #expect(try second.ask("subscribe log").hasPrefix("error invalidArgument"))
        try first.kill()
        try namespace.write("job", 1)
        try second.run("subscribe log")
        #expect(try second.run("follow 1 0").hasPrefix("1 0 0 "))
    }

    /// A watcher is stopped in the middle of looking for the dead, and the subscription that it saw without its process
    /// has one again by the time it goes on.
    @Test func aSubscriptionTakenOverIsNotEndedForTheDead() throws {
        let namespace = try SpaceTest.namespace("n")
        let dying = try Agent(root, "n", "owning=0")
        try dying.run("subscribe log")
        // One process a tick looks for the dead; the other one is stopped, so it is this one. It does nothing but tick,
        // and the first look of a tick is for the dead.
        try dying.stop()
        let looking = try watcher()
        try looking.run("arm stop snapshotTaken")
        try looking.waitUntilStopped()
        try dying.kill()
        let next = try Agent(root, "n", "owning=0")
        try next.run("subscribe log")
        // The watcher is stopped once more, so it has done what it was about to do.
        looking.resume()
        try looking.run("arm stop snapshotTaken")
        try looking.waitUntilStopped()
        let subscriptions = try namespace.status().watchers.filter { $0.subscription == "log" }
        #expect(subscriptions.map(\.pid) == [next.pid])
        looking.resume()
    }

    /// No process touches the namespace after the writer's death: the watcher is told all the same, once.
    @Test(arguments: [CrashPoint.afterCommit, .granted, .gateReleased, .woken, .rung], ["next-wait", "next-async"])
    func whatAKilledWriterCommittedIsTold(_ point: CrashPoint, _ next: String) throws {
        let namespace = try SpaceTest.namespace("n")
        let watcher = try watcher()
        try watcher.send(next)
        #expect(try watcher.line() == "waiting")
        try dieWriting(at: point)
        let line = try #require(try watcher.line())
        #expect(line.hasPrefix("ok write ") && line.hasSuffix(#" ["job",1]"#))
        try namespace.write("job", 2)
        let last = try namespace.status().sequence
        #expect(line == "ok write \(last - 1) [\"job\",1]")
        #expect(try watcher.run("follow 1 0").hasPrefix("1 0 0 \(last) \(last) "))
    }

    @Test(arguments: [CrashPoint.gateTaken, .begun, .beforeCommit])
    func whatAKilledWriterDidNotCommitIsNotTold(_ point: CrashPoint) throws {
        let namespace = try SpaceTest.namespace("n")
        let watcher = try watcher()
        try watcher.send("next-wait")
        #expect(try watcher.line() == "waiting")
        try dieWriting(at: point)
        try namespace.write("job", 2)
        #expect(try watcher.line() == "ok write \(namespace.status().sequence) [\"job\",2]")
    }

    private func dieWriting(at point: CrashPoint) throws {
        let writer = try Agent(root, "n")
        try writer.run("arm kill \(point)")
        try writer.send("write [\"job\", 1]")
        #expect(try writer.line() == nil)
        #expect(try writer.ended() == .killed(by: SIGKILL))
    }

    // MARK: Rows of killed watchers

    /// Another's tick removes a killed watcher's row; no process registers here.
    @Test func aKilledWatchersRowGoesAtTheTickOfAnother() throws {
        let namespace = try SpaceTest.namespace("n")
        let first = try watcher()
        let second = try watcher()
        #expect(try Set(namespace.status().watchers.map(\.pid)) == [first.pid, second.pid])
        try first.kill()
        #expect(try eventually { try namespace.status().watchers.map(\.pid) == [second.pid] })
        try namespace.write("job", 1)
        #expect(try second.run("follow 1 0").hasPrefix("1 0 0 "))
    }

    @Test func theNextRegistrationDropsTheRowsOfTheDead() throws {
        let namespace = try SpaceTest.namespace("n")
        let dead = try (0..<3).map { _ in try watcher() }
        // The agents are stopped first, so that none ticks, and drops the others' rows, while they die one after the
        // other.
        for agent in dead { try agent.stop() }
        for agent in dead { try agent.kill() }
        #expect(try namespace.status().watchers.count == 3)
        let next = try watcher()
        #expect(try namespace.status().watchers.map(\.pid) == [next.pid])
    }

    /// The journal is emptied with the last watcher, even a killed one; a watcher that asks for its changes gets a gap.
    @Test func theJournalEndsWithTheLastWatcher() throws {
        let namespace = try SpaceTest.namespace("n")
        let killed = try watcher()
        try namespace.write("job", 1)
        try killed.kill()
        // The killed watcher is still registered, so this change is journaled too, and a watcher can ask for it.
        try namespace.write("job", 2)
        let last = try namespace.status().sequence
        do {
            let late = try namespace.changes(from: .after(last - 2))
            #expect(try changes(of: late).map(\.kind) == [.write, .write])
        }
        #expect(try namespace.status().watchers == [])
        #expect(try namespace.verify() == [])
        try namespace.write("job", 3)
        let later = try namespace.changes(from: .after(last - 2))
        let gaps = try changes(of: later)
        #expect(gaps.map(\.kind) == [.gap] && gaps[0].sequence == last - 1 && gaps[0].lastSequence == last + 1)
    }

    private func changes(of changes: Changes) throws -> [Change] {
        var all: [Change] = []
        while let change = try changes.nextBlocking(timeout: .zero, interruption: nil) { all.append(change) }
        return all
    }

    /// After many rounds of watching a process has no more descriptors, threads and inotify watches than before.
    @Test(arguments: ["watch-rounds", "open-watch-rounds"])
    func watchingLeavesNothingBehind(_ command: String) throws {
        let namespace = try SpaceTest.namespace("n")
        let agent = try Agent(root, "n")
        let words = command == "watch-rounds" ? "" : "\(root.path) other "
        // The resources of the first use stay: the thread that hears change signals, the files that it listens to, and
        // the change signal, once it was written to, which happens when no watcher has anything left to read.
        let signal = "\(root.path)/n/bell"
        #expect(
            try eventually {
                try agent.run("watch-rounds 20")
                return try agent.openFiles().contains(signal)
            }
        )
        try agent.run("\(command) \(words)20")
        // The counts show one more of each. (A tick that is under way may still hold dropped resources; hence
        // "eventually".)
        #expect(try eventually { try agent.run("hold-more") == "1 1 1" })
        // A registered watcher adds an inotify watch; a leaked one would do so too. (What is dropped late may be in the
        // first count, so it is taken again until it is one less.)
        var before = try Holdings(agent)
        #expect(
            try eventually {
                before = try Holdings(agent)
                try agent.run("watch")
                let isOneMore = try Holdings(agent).watches == before.watches + 1
                try agent.run("unwatch")
                return isOneMore
            }
        )
        try agent.run("\(command) \(words)300")
        let areGone = try eventually { try Holdings(agent).isWithin(before) }
        let after = try Holdings(agent)
        #expect(areGone, "\(after), before: \(before)")
        #expect(try namespace.status().watchers == [])
    }

    private struct Holdings {
        let descriptors: Int
        let threads: Int
        let watches: Int

        init(_ agent: Agent) throws {
            let answer = try agent.run("holdings")
            let numbers = answer.split(separator: " ").compactMap { Int($0) }
            guard numbers.count == 3 else { throw TestFailure("holdings: \(answer)") }
            (descriptors, threads, watches) = (numbers[0], numbers[1], numbers[2])
        }

        func isWithin(_ other: Holdings) -> Bool {
            // The pool that runs tasks may start its threads at any time, as many as there are processors.
            let pool = sysconf(CInt(_SC_NPROCESSORS_ONLN))
            return descriptors <= other.descriptors && threads <= other.threads + pool && watches <= other.watches
        }
    }

    // MARK: The end

    @Test func theEndOfTheNamespaceIsToldToAll() throws {
        let namespace = try root.space.namespace("n")
        let watchers = try (0..<4).map { _ in try watcher() }
        // Two watchers wait; two ask when it has happened.
        for (number, watcher) in watchers.enumerated() where number > 1 {
            try watcher.send(number == 2 ? "next-wait" : "next-async")
            #expect(try watcher.line() == "waiting")
        }
        let last = try namespace.status().sequence
        try root.space.delete("n")
        for (number, watcher) in watchers.enumerated() {
            if number < 2 {
                try watcher.send(number == 0 ? "next-wait" : "next-async")
                #expect(try watcher.line() == "waiting")
            }
            #expect(try watcher.line() == "ok gone \(last) ")
            // A watcher is told once; then nothing more comes.
            try watcher.send("next-wait")
            #expect(try watcher.line() == "waiting")
            #expect(try watcher.line() == "none")
        }
    }

    /// If the last owner is killed and a process lists the namespaces, the watchers, which keep nothing alive, are
    /// told.
    @Test func theDeathOfTheLastOwnerIsToldToAll() throws {
        let owner = try Agent(root, "n")
        let watchers = try (0..<2).map { _ in try watcher() }
        try owner.run("write [\"job\", 1]")
        for (number, watcher) in watchers.enumerated() {
            #expect(try watcher.run("follow 1 0").hasPrefix("1 0 0 "))
            try watcher.send(number == 0 ? "next-wait" : "next-async")
            #expect(try watcher.line() == "waiting")
        }
        try owner.kill()
        #expect(try root.space.namespaceNames() == [])
        for watcher in watchers { #expect(try watcher.line()?.hasPrefix("ok gone ") == true) }
        for watcher in watchers { try watcher.exit() }
        #expect(root.leftovers == [])
    }

    /// If the namespace's folder is removed with everything in it, watchers learn of it at their tick.
    @Test func whoWatchesInARemovedFolderIsTold() throws {
        let owner = try Agent(root, "n")
        let watchers = try (0..<2).map { _ in try watcher() }
        for (number, watcher) in watchers.enumerated() {
            try watcher.send(number == 0 ? "next-wait" : "next-async")
            #expect(try watcher.line() == "waiting")
        }
        try root.removeTree("n")
        for watcher in watchers { #expect(try watcher.line()?.hasPrefix("ok gone ") == true) }
        #expect(try owner.ask("write [\"job\", 1]").hasPrefix("error namespaceDeleted"))
    }

    /// Changes that were committed before the end are told before it, however late the watcher asks.
    @Test(arguments: [0, 10, 1000])
    func whatWasThereBeforeTheEndIsToldFirst(count: Int) throws {
        let owner = try Agent(root, "n")
        let watchers = try (0..<2).map { _ in try watcher() }
        try owner.run("write-loop 0 \(count)")
        try owner.exit()
        #expect(try root.space.namespaceNames() == [])
        for (number, watcher) in watchers.enumerated() {
            if count > 0 {
                let told = try Followed(watcher.run("follow \(count) 0"))
                #expect(told.received == count && told.gaps == 0)
            }
            try watcher.send(number == 0 ? "next-wait" : "next-async")
            #expect(try watcher.line() == "waiting")
            #expect(try watcher.line()?.hasPrefix("ok gone ") == true)
        }
    }
}
