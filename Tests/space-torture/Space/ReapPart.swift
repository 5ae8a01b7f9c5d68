import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SystemPackage

/// Owners, openers, leavers, creators and reapers started at the same time, and killed: a namespace with a living owner
/// stays, and one without goes, with all its files.
struct ReapPart {
    let options: Options

    func run() -> Report {
        Rounds(part: .reap, options: options).report([
            .init("forkedChild", forkedChild), .init("pidReused", pidReused), .init("mainThreadGone", mainThreadGone),
            .init("twoReapers", twoReapers), .init("openerAgainstReaper", openerAgainstReaper),
            .init("enrolledAtTheDoor", enrolledAtTheDoor),
            .init("lastTwo", lastTwo), .init("folderRemoved", folderRemoved), .init("creatorKilled", creatorKilled),
            .init("enrolled", enrolled),
        ])
    }

    /// The child keeps the locked descriptor open; its file names a process that is dead.
    private func forkedChild(_ round: Round) throws {
        let owner = try round.player()
        let child = Int32(try owner.run("fork-holding")) ?? 0
        guard child > 1 else { throw TestFailure("no child") }
        defer { kill(child, SIGKILL) }
        try owner.run("write [\"job\", 1]")
        let visitor = round.coin() ? try round.player("owning=0") : nil
        try owner.kill()
        round.check(try round.root.space.namespaceNames().isEmpty, "a child keeps a dead owner alive")
        if let visitor {
            let said = try visitor.ask("count")
            round.check(said.hasPrefix("error namespaceDeleted"), "a visitor of what is gone: \(said)")
        }
        let next = try round.player()
        try round.expect(next, "count", "ok 0")
    }

    /// Another process gets the PID of a dead owner: an owner whose lock a child still holds, or one that was enrolled.
    private func pidReused(_ round: Round) throws {
        let owner = try round.newcomer()
        var child: pid_t = 0
        if round.coin() {
            try owner.open(round.root, "n")
            child = Int32(try owner.run("fork-holding")) ?? 0
        } else {
            let opener = try round.player()
            try opener.run("enrol \(owner.pid)")
            try round.finish(opener)
        }
        defer { if child > 1 { kill(child, SIGKILL) } }
        round.check(try round.root.space.namespaceNames() == ["n"], "deleted while its owner lives")
        let start = ProcessIdentity.of(pid: owner.pid)?.startTime
        try owner.kill()
        var sleeper: pid_t?
        defer { if let sleeper { Process.end(sleeper) } }
        do throws(Errno) {
            repeat {
                if let sleeper { Process.end(sleeper) }
                sleeper = nil
                try Process.startSleeper(pid: owner.pid)
                sleeper = owner.pid
                // proc(5) counts in hundredths of a second: within one, the two start times are equal.
            } while ProcessIdentity.of(pid: owner.pid)?.startTime == start
        } catch .fileExists {
            // Another process was quicker, and has the PID now.
        } catch {
            throw Rounds.Skipped(reason: "a PID can't be chosen: \(error)")
        }
        round.check(
            try round.root.space.namespaceNames().isEmpty,
            "another process with its PID keeps a dead owner alive"
        )
        let next = try round.player()
        try round.expect(next, "count", "ok 0")
    }

    /// proc(5) shows a process whose main thread has ended as a zombie; it lives, and owns.
    private func mainThreadGone(_ round: Round) throws {
        let owner = try round.player()
        try owner.run("write [\"kept\", 1]")
        try owner.run("end-main-thread")
        round.check(ProcessIdentity.state(of: owner.pid) == "Z", "the main thread has not ended")
        round.check(
            try round.root.space.namespaceNames() == ["n"],
            "deleted while its owner lives, without a main thread"
        )
        let visitor = try round.player("owning=0")
        try round.expect(visitor, "take [\"kept\", \"?int\"]", #"ok ["kept",1]"#)
        try round.expect(visitor, "verify", "ok ")
        try round.finish(owner)
        round.check(try round.root.space.namespaceNames().isEmpty, "its owner has ended, and it is still there")
    }

    /// A process that reaps: it has the space open, by another namespace.
    private func reaper(_ round: Round) throws -> Agent { try round.player("", in: "reapers") }

    private func twoReapers(_ round: Round) throws {
        let reapers = [try reaper(round), try reaper(round)]
        for _ in 0..<5 {
            let names = ["a", "b", "c"]
            let owners = try names.map { try round.player("", in: $0) }
            for owner in owners { try owner.kill() }
            try round.race((reapers[0], "reap"), (reapers[1], "reap"))
            let said = try reapers.map { try $0.line() ?? "nothing more" }
            round.check(said.allSatisfy { $0.hasPrefix("ok") }, "two reapers at once: \(said)")
            let found = said.flatMap { $0.split(separator: " ").dropFirst().map(String.init) }
            round.check(Set(found) == Set(names), "of \(names), \(said) were reaped")
            round.check(round.root.entries().filter(names.contains).isEmpty, "something is left of \(names)")
        }
    }

    /// The opener has either the old namespace, which its reaper then leaves alone, or a new one; never one that is
    /// deleted under it.
    private func openerAgainstReaper(_ round: Round) throws {
        let reaper = try reaper(round)
        let opener = try round.newcomer()
        for turn in 0..<10 {
            let dead = try round.player()
            try dead.run("write [\"old\", 1]")
            try dead.kill()
            try round.race((opener, "open \(round.root.path) n"), (reaper, "reap"))
            try round.expect(opener, says: "ok")
            try round.expect(opener, "count", "ok 0")
            let said = try reaper.line() ?? "nothing more"
            round.check(said.hasPrefix("ok"), "a reaper beside an opener: \(said)")
            try opener.run("write [\"mine\", \(turn)]")
            try round.expect(reaper, "reap", "ok ")
            try round.expect(opener, "take [\"mine\", \"?int\"]", "ok [\"mine\",\(turn)]")
            try round.expect(opener, "verify", "ok ")
            try opener.run("leave")
        }
    }

    /// The reaper has seen no living owner, and waits for the door while the process that has it enrols an heir.
    private func enrolledAtTheDoor(_ round: Round) throws {
        let reaper = try reaper(round)
        let owner = try round.player()
        let visitor = try round.player("owning=0")
        let heir = try round.newcomer()
        try owner.run("write [\"kept\", 1]")
        try visitor.run("arm stop doorTaken")
        try visitor.send("enrol \(heir.pid)")
        try visitor.waitUntilStopped()
        try owner.kill()
        try reaper.send("reap")
        // If the process goes on too early, the reaper has not looked yet, and sees the heir: the other order of the
        // two.
        usleep(UInt32(round.random(0..<20_000)))
        visitor.resume()
        round.races += 1
        try round.expect(visitor, says: "ok")
        let said = try reaper.line() ?? "nothing more"
        round.check(said == "ok " || said == "ok", "reaped, though somebody was enrolled: \(said)")
        try round.expect(visitor, "take [\"kept\", \"?int\"]", #"ok ["kept",1]"#)
        try round.expect(visitor, "verify", "ok ")
    }

    private func lastTwo(_ round: Round) throws {
        let agents = [try round.newcomer(), try round.newcomer()]
        for _ in 0..<20 {
            for agent in agents { try agent.open(round.root, "n") }
            let comesBack = round.random(0..<3) == 0
            if comesBack {
                // One process leaves, and the other comes back at the same time.
                try agents[1].run("leave")
                try round.race((agents[0], "leave"), (agents[1], "open \(round.root.path) n"))
            } else {
                try round.race((agents[0], "leave"), (agents[1], "leave"))
            }
            for agent in agents { try round.expect(agent, says: "ok") }
            if comesBack {
                try agents[1].run("write [\"mine\", 1]")
                try round.expect(agents[1], "count", "ok 1")
                try agents[1].run("leave")
            }
            round.check(!round.root.entries().contains("n"), "the last two have left, and it is still there")
        }
    }

    /// A program that knows nothing of spaces removes the folder.
    private func folderRemoved(_ round: Round) throws {
        let user = try round.player()
        let waiter = try round.player()
        try user.run("write [\"job\", 1]")
        try waiter.send("\(round.coin() ? "take-wait" : "read-wait") 60000 [\"never\"]")
        try round.expect(waiter, says: "waiting")
        try round.root.removeTree("n")
        round.check(try waiter.line()?.hasPrefix("error namespaceDeleted") == true, "a waiter was not told")
        let said = try user.ask("write [\"job\", 2]")
        round.check(said.hasPrefix("error namespaceDeleted"), "a writer in a removed folder: \(said)")
        let next = round.coin() ? user : try round.newcomer()
        try next.open(round.root, "n")
        try round.expect(next, "count", "ok 0")
        try next.run("write [\"new\", 1]")
        try waiter.exit()
        try round.expect(next, "count", "ok 1")
        try round.expect(next, "verify", "ok ")
    }

    /// Others create the same namespace at the same time.
    private func creatorKilled(_ round: Round) throws {
        let others = [try round.newcomer(), try round.newcomer()]
        let points: [CrashPoint] = [.cradleMade, .controlMade, .sessionMade, .dataMade, .beforePublishing, .published]
        for point in points.shuffled(using: &round.generator) {
            let victim = try round.newcomer()
            try victim.run("arm kill \(point)")
            try round.race((victim, round.opening()), (others[0], "open \(round.root.path) n"))
            try others[1].send("open \(round.root.path) n")
            for other in others { try round.expect(other, says: "ok") }
            // Unless the victim came too late to be the creator.
            if try victim.line() == nil {
                round.check(try victim.ended() == .killed(by: SIGKILL), "a creator ended by itself at \(point)")
            }
            try others[0].run("write [\"job\", 1]")
            try round.expect(others[1], "take [\"job\", 1]", #"ok ["job",1]"#)
            try round.expect(others[0], "verify", "ok ")
            _ = try? victim.kill()
            try round.race((others[0], "leave"), (others[1], "leave"))
            for other in others { try round.expect(other, says: "ok") }
            round.check(try round.root.space.namespaceNames().isEmpty, "killed at \(point), it is still there")
            round.check(round.root.leftovers.isEmpty, "killed at \(point): \(round.root.leftovers)")
        }
    }

    private func enrolled(_ round: Round) throws {
        let opener = try round.player()
        let owner = try round.newcomer()
        try opener.run("enrol \(owner.pid)")
        try opener.run("write [\"kept\", 1]")
        if round.coin() { try opener.kill() } else { try opener.run("leave") }
        if round.coin() {
            // A stopped process is not dead.
            try owner.stop()
            round.check(try round.root.space.namespaceNames() == ["n"], "deleted while its owner is stopped")
            owner.resume()
        }
        round.check(try round.root.space.namespaceNames() == ["n"], "deleted while its owner lives")
        let visitor = try round.player("owning=0")
        try round.expect(visitor, "count", "ok 1")
        try round.expect(visitor, "verify", "ok ")
        try round.finish(owner)
        round.check(
            try round.root.space.namespaceNames().isEmpty,
            "its enrolled owner has exited, and it is still there"
        )
        let said = try visitor.ask("count")
        round.check(said.hasPrefix("error namespaceDeleted"), "a visitor of what is gone: \(said)")
    }
}
