import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// Processes are killed at every crash point: the other processes go on, no commit is lost, and in the end nothing is
/// left behind.
///
/// Each test sees the process die of SIGKILL, so a crash point that is not reached any more fails it; the switch below
/// is complete, so a new crash point needs its test.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct CrashPointTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    @Test(arguments: CrashPoint.allCases)
    func othersGoOn(_ point: CrashPoint) throws {
        switch point {
        case .cradleMade, .controlMade, .sessionMade, .dataMade, .beforePublishing, .published:
            try dieCreating(point)
            try dieLoading(point)
        case .doorTaken, .joined, .dataOpened, .firstReader:
            try dieOpening(point)
        case .sessionRemoved, .graveGate, .markedDead, .buried, .beforeDeleting:
            try dieLeaving(point, thenOpen: true)
            try dieLeaving(point, thenOpen: false)
        case .lockUnnamed, .gateTaken:
            try dieWriting(point, isCommitted: false)
            try dieWriting(point, .guarded, isCommitted: false)
        case .granting, .startRaised, .granted, .lockForgotten, .gateReleased, .woken:
            try dieWriting(point, isCommitted: true)
            try dieWriting(point, .guarded, isCommitted: true)
        case .reserveLowered:
            try dieGivingBack(.fast)
            try dieGivingBack(.guarded)
        case .begun, .beforeCommit:
            try dieWriting(point, .guarded, isCommitted: false)
            try dieApplying(point, isCommitted: false)
            try dieLoading(point)
            try dieLoadingMore(point, isCommitted: false)
        case .beforeLogging:
            try dieLogging(point, isCommitted: false)
        case .logged:
            try dieLogging(point, isCommitted: true)
        case .operationSent:
            // It needs a daemon: OperationTests of SpaceClusterTests.
            break
        case .afterCommit, .rung:
            try dieWriting(point, .guarded, isCommitted: true)
            try dieApplying(point, isCommitted: true)
            try dieLoading(point)
            try dieLoadingMore(point, isCommitted: true)
        case .nearFilled:
            try dieWriting(point, isCommitted: false)
        case .nearWritten:
            try dieWriting(point, isCommitted: true)
        case .nearTaking:
            try dieTaking(point, isCommitted: false)
        case .nearTaken:
            try dieTaking(point, isCommitted: true)
        case .nearClaiming:
            try dieClaiming(point, isCommitted: false)
        case .nearClaimed:
            try dieClaiming(point, isCommitted: true)
        case .nearStored:
            try dieStoring(point)
            try dieApplying(point, isCommitted: true)
        case .marking:
            try dieMarking(point, isCommitted: false)
        case .marked:
            try dieMarking(point, isCommitted: true)
        case .placeAwaited:
            try dieWaitingForPlace(point)
        case .placeRaised:
            try dieFreeingPlaces(point)
        case .slotFilling, .slotCounted, .slotPublished, .grantSeen, .rearmed, .lookedInVain:
            try dieWaiting(point)
        case .latencyDrafted, .latencyMade, .latencyEnded:
            try dieSwitching(point)
        case .snapshotTaken:
            try dieReading(point)
        case .nothingReady:
            try dieWatching(point)
        case .deadlockFound:
            // `ToldDeadlockTests` kills and stops processes there.
            break
        }
        #expect(try root.space.namespaceNames() == [])
        #expect(root.leftovers == [])
    }

    private func die(_ agent: Agent, at point: CrashPoint, doing command: String) throws {
        try agent.run("arm kill \(point)")
        try agent.send(command)
        while let line = try agent.line() {
            if line != "waiting" { throw TestFailure("lived through \(point): \(line)") }
        }
        #expect(try agent.ended() == .killed(by: SIGKILL))
    }

    /// Makes the calls that must work after any kill, in this process and in a new one.
    private func goOn(_ namespace: Namespace) throws {
        try namespace.write("ping", 1)
        let other = try Agent(root, namespace.name)
        #expect(try other.run("take [\"ping\", \"?int\"]") == #"["ping",1]"#)
        try other.run("write [\"pong\", 2]")
        #expect(try namespace.takeIfExists("pong", any(Int.self))?.1 == 2)
        #expect(try namespace.verify() == [])
        try other.exit()
        #expect(try namespace.status().owners.map(\.pid) == [getpid()])
    }

    // MARK: Where the process dies

    /// The blocks that the killed process has left are given back with the next ones, and none that is promised is gone.
    private func dieGivingBack(_ mode: StorageMode) throws {
        let namespace = try root.namespace(mode, "back-\(mode)", byteLimit: Limits.smallestByteLimit)
        let victim = try Agent(root, namespace.name)
        // It is refused, after it has reserved all that there is.
        try die(victim, at: .reserveLowered, doing: "write-at-once 10000 2000")
        let (left, control) = (try root.dataFile(namespace.name).allocated, namespace.core.engine.control)
        #expect(left > Int(control.reserved.load()) + 1 << 20)
        #expect(try namespace.count() == 0)
        try goOn(namespace)
        let content = [UInt8](repeating: 7, count: 2000)
        let refused = try refusal { try namespace.write(contentsOf: (0..<10_000).map { Tuple("t", $0, content) }) }
        #expect(refused.code == .limitReached)
        let file = try root.dataFile(namespace.name)
        #expect(file.allocated <= Int(control.reserved.load()) + 1 << 20)
        #expect(try namespace.verify() == [])
        try namespace.leave()
    }

    private func dieCreating(_ point: CrashPoint) throws {
        let victim = try Agent()
        try die(victim, at: point, doing: "open \(root.path) n")
        #expect(root.entries().contains("n") == (point == .published))
        if point != .published { #expect(root.leftovers != []) }
        #expect(try root.space.namespaceNames() == [])
        #expect(root.leftovers == [])
        let namespace = try root.space.namespace("n")
        #expect(try namespace.count() == 0)
        try goOn(namespace)
    }

    /// A load that is killed makes no namespace, whichever of its commits was the last; what it left beside is removed by
    /// the process that next lists or makes namespaces, and the same load made again is whole.
    private func dieLoading(_ point: CrashPoint) throws {
        let count = 45_000
        let isCommit = [.begun, .beforeCommit, .afterCommit, .rung].contains(point)
        for (number, mode) in (isCommit ? [1, 2, 3, 4, 5] : [1]).map({ ($0, $0 % 2 == 0 ? StorageMode.guarded : .fast) }
        ) {
            let victim = try Agent()
            try victim.run("arm kill \(point) \(number)")
            try victim.send("load-new \(root.path) n \(count) \(mode.rawValue)")
            while let line = try victim.line() { throw TestFailure("lived through \(point) \(number): \(line)") }
            #expect(try victim.ended() == .killed(by: SIGKILL))
            #expect(root.entries().contains("n") == (point == .published))
            if point != .published { #expect(root.leftovers != []) }
            // Its owner was killed, so also one that was made goes now.
            #expect(try root.space.namespaceNames() == [])
            #expect(root.leftovers == [])
            let again = try Agent()
            try again.run("open \(root.path) other")
            try again.run("load-new \(root.path) n \(count) \(mode.rawValue)")
            try again.exit()
        }
    }

    /// A load into a namespace that exists is one commit.
    private func dieLoadingMore(_ point: CrashPoint, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: .guarded))
        try namespace.write("kept", 1)
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "load-into 45000")
        #expect(try namespace.count(matching: ["loaded", .any]) == (isCommitted ? 45_000 : 0))
        #expect(try namespace.takeIfExists("kept", any(Int.self))?.1 == 1)
        try goOn(namespace)
        try namespace.leave()
    }

    private func dieOpening(_ point: CrashPoint) throws {
        let namespace = try root.space.namespace("n")
        try namespace.write("kept", 1)
        let victim = try Agent()
        try die(victim, at: point, doing: "open \(root.path) n")
        try goOn(namespace)
        #expect(try namespace.takeIfExists("kept", any(Int.self))?.1 == 1)
    }

    /// Dies while it begins or ends to measure latencies: nothing is measured then, and the next switch works.
    private func dieSwitching(_ point: CrashPoint) throws {
        let namespace = try root.space.namespace("n")
        let isEnding = point == .latencyEnded
        if isEnding { try namespace.setMeasuringLatency(true) }
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: isEnding ? "measure off" : "measure on")
        #expect(try !namespace.isMeasuringLatency && namespace.status().latency == nil)
        try goOn(namespace)
        let other = try Agent(root, "n")
        for isOn in [true, false, true] {
            try other.run("measure \(isOn ? "on" : "off")")
            #expect(
                try namespace.isMeasuringLatency == isOn
                    && namespace.status().latency?.waiting.count == (isOn ? 0 : nil)
            )
        }
        try other.exit()
        try goOn(namespace)
    }

    private func dieWatching(_ point: CrashPoint) throws {
        let namespace = try root.space.namespace("n")
        let victim = try Agent(root, "n")
        try victim.run("watch")
        try die(victim, at: point, doing: "next-wait")
        try goOn(namespace)
    }

    private func dieLeaving(_ point: CrashPoint, thenOpen: Bool) throws {
        let victim = try Agent(root, "n")
        try victim.run("write [\"old\", 1]")
        let visitor = try Agent(root, "n", "owning=0")
        try visitor.send("read-wait 60000 [\"never\"]")
        #expect(try visitor.line() == "waiting")
        try die(victim, at: point, doing: "leave")
        if thenOpen {
            let namespace = try root.space.namespace("n")
            #expect(try namespace.count() == 0, "a namespace whose last owner has left was opened again")
            try goOn(namespace)
        } else {
            #expect(try root.space.namespaceNames() == [])
        }
        #expect(try visitor.line()?.hasPrefix("error namespaceDeleted") == true)
    }

    /// The process dies before or after its commit is in the log, and before it is in the namespace.
    private func dieLogging(_ point: CrashPoint, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n")
        let folder = try TemporaryRoot()
        _ = try namespace.beginLog(to: folder.path + "/log")
        let victim = try Agent(root, "n")
        let waiter = try Agent(root, "n")
        try waiter.block("take-wait 60000 [\"job\", 1]", in: namespace)
        try die(victim, at: point, doing: "write [\"job\", 1]")
        // The next writer applies what is in the log.
        try namespace.write("job", 2)
        if !isCommitted { try namespace.write("job", 1) }
        #expect(try waiter.line() == #"ok ["job",1]"#)
        try waiter.exit()
        #expect(try namespace.takeIfExists("job", 2) != nil)
        #expect(try namespace.count() == 0)
        try goOn(namespace)
        try namespace.leave()
    }

    /// The process dies in a transaction that takes over what is in the near end.
    private func dieStoring(_ point: CrashPoint) throws {
        let namespace = try root.space.namespace("n")
        for number in 0..<3 { try namespace.write("near", number) }
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "transact")
        #expect(try namespace.count() == 4)
        for number in 0..<3 { #expect(try namespace.takeIfExists("near", any(Int.self))?.1 == number) }
        #expect(try namespace.takeIfExists("near", any(Int.self)) == nil)
        #expect(try namespace.takeIfExists("a", 1) != nil)
        #expect(try namespace.get("cell") != nil)
        try goOn(namespace)
    }

    /// The process dies under the gate, about to sleep until the full ring of the near end has a place.
    private func dieWaitingForPlace(_ point: CrashPoint) throws {
        let namespace = try fullRing()
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "write [\"near\", 4]")
        for number in 0..<4 { #expect(try namespace.takeIfExists("near", any(Int.self))?.1 == number) }
        #expect(try namespace.count() == 0)
        try goOn(namespace)
    }

    /// A taker dies under the gate, about to wake a writer that waits for a place.
    private func dieFreeingPlaces(_ point: CrashPoint) throws {
        let namespace = try fullRing()
        let writer = try Agent(root, "n")
        // Stopped when it has released the gate, before it sleeps.
        try writer.run("arm stop gateReleased")
        try writer.send("write [\"near\", 4]")
        try writer.waitUntilStopped()
        let victim = try Agent(root, "n")
        #expect(try namespace.takeIfExists("near", any(Int.self))?.1 == 0)
        try die(victim, at: point, doing: "take [\"near\", \"?int\"]")
        writer.resume()
        #expect(try writer.line()?.hasPrefix("ok") == true)
        for number in 2...4 { #expect(try namespace.takeIfExists("near", any(Int.self))?.1 == number) }
        #expect(try namespace.count() == 0)
        try writer.exit()
        try goOn(namespace)
    }

    /// A namespace whose near end has four records, all of them in use.
    private func fullRing() throws -> Namespace {
        let namespace = try root.space.namespace("n")
        namespace.useNearEnd(of: 4)
        for number in 0..<4 { try namespace.write("near", number) }
        return namespace
    }

    /// A take and a claim by a mark.
    private func dieMarking(_ point: CrashPoint, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n")
        try namespace.write(contentsOf: (0..<200).map { Tuple("job", $0) })
        let victim = try Agent(root, "n")
        #expect(try victim.ask("take [\"job\", \"?int\"]") == "ok [\"job\",0]")
        try die(victim, at: point, doing: "take [\"job\", \"?int\"]")
        let first = isCommitted ? 2 : 1
        #expect(try namespace.count() == 200 - first)
        let claimer = try Agent(root, "n")
        #expect(try claimer.ask("take [\"job\", \"?int\"]") == "ok [\"job\",\(first)]")
        try die(claimer, at: point, doing: "claim-typed [\"job\", \"?int\"]")
        // The claim of the dead returns to its place.
        let again = try #require(try namespace.claimIfExists(matching: ["job", first + 1])?.detach())
        #expect(again.deliveries == (isCommitted ? 1 : 0))
        try namespace.complete(again)
        for number in first + 2..<200 { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
        #expect(try namespace.count() == 0)
        try goOn(namespace)
    }

    /// The commit that applies the marks of another process.
    private func dieApplying(_ point: CrashPoint, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n")
        try namespace.write(contentsOf: (0..<200).map { Tuple("job", $0) })
        for number in 0..<60 { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
        let claims = try (0..<5).map { _ in
            try #require(try namespace.claimIfExists(matching: ["job", .any])?.detach())
        }
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "transact")
        #expect(try namespace.status().claims.map(\.held.number) == claims.map(\.number))
        try namespace.complete(claims[0])
        #expect(try namespace.release(claims[1]))
        for claim in claims[2...] { try namespace.complete(claim) }
        for number in [61] + Array((isCommitted ? 66 : 65)..<200) {
            #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number)
        }
        #expect(try namespace.takeIfExists("job", any(Int.self)) == nil)
        try goOn(namespace)
    }

    private func dieClaiming(_ point: CrashPoint, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n")
        namespace.useNearEnd(of: NearRing.capacity)
        for number in 0..<3 { try namespace.write("job", number) }
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "claim-typed [\"job\", 1]")
        #expect(try namespace.count(matching: ["job", 1]) == 1)
        // Nothing is claimed twice under one number.
        let next = try #require(try namespace.claimIfExists(matching: ["job", 2])?.detach())
        #expect(try namespace.status().claims.filter { $0.held.number == next.number }.count == 1)
        try namespace.complete(next)
        let again = try #require(try namespace.claimIfExists(matching: ["job", 1])?.detach())
        #expect(again.deliveries == (isCommitted ? 1 : 0))
        try namespace.complete(again)
        #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == 0)
        #expect(try namespace.count() == 0)
        try goOn(namespace)
    }

    private func dieTaking(_ point: CrashPoint, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n")
        let victim = try Agent(root, "n")
        namespace.useNearEnd(of: NearRing.capacity)
        // The first look finds out that LMDB has none.
        #expect(try victim.ask("take [\"job\", \"?int\"]") == "none")
        for number in 0..<3 { try namespace.write("job", number) }
        try die(victim, at: point, doing: "take [\"job\", \"?int\"]")
        let left = Array((isCommitted ? 1 : 0)..<3)
        #expect(try namespace.count() == left.count)
        for number in left { #expect(try namespace.takeIfExists("job", any(Int.self))?.1 == number) }
        #expect(try namespace.takeIfExists("job", any(Int.self)) == nil)
        try goOn(namespace)
    }

    private func dieWriting(_ point: CrashPoint, _ mode: StorageMode = .fast, isCommitted: Bool) throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: mode))
        defer { try? namespace.leave() }
        let waiter = try Agent(root, "n")
        try waiter.block("take-wait 60000 [\"job\", \"?int\"]", in: namespace)
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "write [\"job\", 1]")
        // No process writes now, but a committed tuple has to reach the waiter all the same.
        if !isCommitted { try namespace.write("job", 2) }
        #expect(try waiter.line() == "ok [\"job\",\(isCommitted ? 1 : 2)]")
        #expect(try namespace.count() == 0)
        try waiter.exit()
        try goOn(namespace)
    }

    private func dieWaiting(_ point: CrashPoint) throws {
        let namespace = try root.space.namespace("n")
        let victim = try Agent(root, "n")
        if point == .grantSeen || point == .rearmed {
            try victim.run("arm kill \(point)")
            // It makes its slot active again if the tuple does not match.
            let template = point == .grantSeen ? #"["job", "?int"]"# : #"["job", "?100...200"]"#
            try victim.block("take-wait 60000 \(template)", in: namespace)
            try namespace.write("job", 1)
            #expect(try victim.ended() == .killed(by: SIGKILL))
        } else {
            try die(victim, at: point, doing: "take-wait 60000 [\"job\", \"?int\"]")
            try namespace.write("job", 1)
        }
        // The tuple may be granted to the dead waiter's slot, which is older.
        let waiter = try Agent(root, "n")
        try waiter.send("take-wait 60000 [\"job\", \"?int\"]")
        #expect(try waiter.line() == "waiting")
        #expect(try waiter.line() == #"ok ["job",1]"#)
        // The same, with the younger waiter in place before the tuple is written.
        try waiter.send("take-wait 60000 [\"job\", \"?int\"]")
        #expect(try waiter.line() == "waiting")
        try namespace.write("job", 2)
        #expect(try waiter.line() == #"ok ["job",2]"#)
        // The tick of any waiter sweeps the dead waiter's slot.
        try waiter.send("take-wait 60000 [\"end\"]")
        #expect(try eventually { try namespace.status().waiters.map(\.pid) == [waiter.pid] })
        try namespace.write("end")
        #expect(try waiter.line() == "waiting")
        #expect(try waiter.line() == #"ok ["end"]"#)
        try waiter.exit()
        try goOn(namespace)
    }

    private func dieReading(_ point: CrashPoint) throws {
        let namespace = try root.space.namespace("n")
        try namespace.write("kept", 1)
        let victim = try Agent(root, "n")
        try die(victim, at: point, doing: "count")
        #expect(try namespace.takeIfExists("kept", any(Int.self))?.1 == 1)
        try goOn(namespace)
    }
}
