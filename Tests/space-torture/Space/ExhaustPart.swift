import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport

/// Every limited resource is used up: the result is an error, or the library works without the resource, and the
/// contents stay.
struct ExhaustPart {
    let options: Options

    func run() -> Report {
        Rounds(part: .exhaust, options: options).report([
            .init("readers", readers), .init("killedReaders", killedReaders), .init("descriptors", descriptors),
            .init("inotify", inotify), .init("slots", slots), .init("sizes", sizes), .init("byteLimit", byteLimit),
        ])
    }

    /// 300 snapshots are open at once, over as many processes: each sees the contents of the time at which it was
    /// taken.
    private func readers(_ round: Round) throws {
        let writer = try round.player()
        try writer.run("fill 10 7")
        let root = round.root.path
        let readers = try (0..<300).map { _ in
            try Process.startWorker {
                let namespace = try Space(root: root, timeout: .seconds(120)).existingNamespace("n")
                CrashPoint.arm(.snapshotTaken, action: .stop)
                let count = try namespace.count()
                try namespace.leave()
                if count != 7 { throw TestFailure("a reader saw \(count) tuples and not 7") }
            }
        }
        defer { for reader in readers { kill(reader, SIGKILL) } }
        for reader in readers {
            var status: CInt = 0
            while waitpid(reader, &status, WUNTRACED) < 0 && errno == EINTR {}
            guard status & 0xFF == 0x7F else { throw TestFailure("a reader ended before it stood in its snapshot") }
        }
        try round.expect(writer, "fill 10 100", "ok 100")
        let late = try round.player()
        try round.expect(late, "count", "ok 107")
        for reader in readers { kill(reader, SIGCONT) }
        for reader in readers { round.check(Process.wait(reader) == .exited(0), "a reader did not see what was there") }
        try round.expect(writer, "drain", "ok 107")
        try round.expect(writer, "verify", "ok ")
    }

    /// More readers are killed in their snapshots than the table has places, while a writer works: places and pages
    /// come back.
    private func killedReaders(_ round: Round) throws {
        let writer = try round.player("limit=\(Limits.smallestByteLimit)")
        let root = round.root.path
        // 2,100 readers in a run of the usual length; fewer where there is less time.
        for _ in 0..<min(105, options.seconds * 11) {
            let readers = try (0..<20).map { _ in
                try Process.startWorker {
                    CrashPoint.arm(.snapshotTaken)
                    // SIGKILL, unless the process refused the command.
                    _ = try Space(root: root, timeout: .seconds(120)).existingNamespace("n").count()
                }
            }
            try writer.send("turn-over 4000 50")
            for reader in readers {
                round.check(Process.wait(reader) == .killed(SIGKILL), "a reader was refused its snapshot")
            }
            try round.expect(writer, says: "ok 50")
            if round.hasFound { break }
        }
        // Far below the limit, at which the writer would have been refused.
        let bytes = Int(try writer.run("bytes")) ?? .max
        round.check(bytes < 6 << 20, "grown to \(bytes) with readers that are dead")
        try round.expect(writer, "verify", "ok ")
    }

    private func descriptors(_ round: Round) throws {
        let isThere = round.coin()
        let keeper = isThere ? try round.player() : nil
        try keeper?.run("write [\"kept\", 1]")
        let agent = try round.newcomer()
        try agent.run("limit nofile \(round.random(4..<24))")
        let answer = try agent.ask("open \(round.root.path) n")
        if answer == "ok" {
            try agent.run("write [\"job\", 1]")
            try agent.send("take-wait 60000 [\"job\", \"?int\"]")
            try round.expect(agent, says: "waiting")
            try round.expect(agent, says: #"ok ["job",1]"#)
            try round.expect(agent, "verify", "ok ")
        } else {
            round.check(answer.hasPrefix("error descriptorsExhausted"), answer)
        }
        try agent.exit()
        if let keeper { try round.expect(keeper, "read [\"kept\", \"?int\"]", #"ok ["kept",1]"#) }
        // A process without a spare descriptor leaves the deletion to the next process that lists or opens.
        _ = try round.root.space.namespaceNames()
        round.check(round.root.leftovers.isEmpty, "left behind: \(round.root.leftovers)")
    }

    /// A process without an inotify instance is told of every change by its tick.
    private func inotify(_ round: Round) throws {
        let writer = try round.player()
        let watcher = try round.newcomer()
        try watcher.send("without-inotify")
        // user_namespaces(7): creating one may be forbidden.
        guard try watcher.line() == "ok" else {
            throw Rounds.Skipped(reason: "a user namespace without inotify instances can't be had")
        }
        try watcher.open(round.root, "n", "owning=0")
        try watcher.run("watch")
        for number in 0..<3 {
            try watcher.send(round.coin() ? "next-wait" : "next-async")
            try round.expect(watcher, says: "waiting")
            try writer.run("write [\"job\", \(number)]")
            let said = try watcher.line() ?? "nothing more"
            round.check(
                said.hasPrefix("ok write ") && said.hasSuffix(" [\"job\",\(number)]"),
                "without inotify: \(said), and not the write of \(number)"
            )
        }
        try round.expect(writer, "verify", "ok ")
    }

    /// More waiters than there are slots, tasks and a thread: each gets its tuple.
    private func slots(_ round: Round) throws {
        let writer = try round.player()
        let tasks = [try round.player(), try round.player()]
        for agent in tasks {
            try agent.run("keep-slots-few")
            try agent.send("takers-async 600 [\"fill\", \"?int\", \"?\"]")
            try round.expect(agent, says: "waiting")
        }
        round.check(try eventually { Int(try writer.run("waiters")) == 1024 }, "the slots are not all in use")
        let late = try round.player()
        try late.run("keep-slots-few")
        try late.send("take-wait 60000 [\"late\", \"?int\"]")
        try round.expect(late, says: "waiting")
        try writer.run("write [\"late\", 1]")
        try round.expect(late, says: #"ok ["late",1]"#)
        if round.coin() {
            // A killed process's waiters withhold their slots from no waiter.
            try tasks[1].kill()
            try writer.run("fill 8 600")
        } else {
            try writer.run("fill 8 1200")
            try round.expect(tasks[1], says: "ok 600")
        }
        try round.expect(tasks[0], says: "ok 600")
        try round.expect(writer, "count", "ok 0")
        try round.expect(writer, "verify", "ok ")
    }

    private func sizes(_ round: Round) throws {
        let mode = round.one(of: [StorageMode.fast, .guarded])
        let writer = try round.player("mode=\(mode)")
        let other = try round.player()
        try writer.run("write [\"kept\", 1]")
        // One field more than 64 MiB, and 65,537 changes.
        let said = try writer.ask("fill \(Limits.valueBytes) 1")
        round.check(said.hasPrefix("full 0 error tooLarge "), "a value beyond the limit: \(said)")
        let answer = try writer.ask("write-at-once \(Limits.transactionChanges + 1)")
        round.check(answer.hasPrefix("error transactionTooLarge "), "a transaction beyond the limit: \(answer)")
        try round.expect(other, "count", "ok 1")
        try round.expect(other, "turn-over 100 10", "ok 10")
        try round.expect(writer, "take [\"kept\", 1]", #"ok ["kept",1]"#)
        try round.expect(other, "verify", "ok ")
    }

    private func byteLimit(_ round: Round) throws {
        let mode = round.one(of: [StorageMode.fast, .guarded])
        let writer = try round.player("mode=\(mode) limit=\(Limits.smallestByteLimit)")
        let other = try round.player()
        let size = round.random(1000..<40_000)
        let words = try writer.ask("fill \(size) 1000000").split(separator: " ")
        guard words.count > 3, words[0] == "full", words[3] == "limitReached", let count = Int(words[1]) else {
            throw TestFailure("a full namespace: \(words.joined(separator: " "))")
        }
        try round.expect(other, "count", "ok \(count)")
        try round.expect(other, "claim [\"fill\", 0, \"?\"]", try writer.ask("read [\"fill\", 0, \"?\"]"))
        try round.expect(other, "complete", "ok")
        try round.expect(other, "drain", "ok \(count - 1)")
        try round.expect(writer, "turn-over \(size) 10", "ok 10")
        try round.expect(writer, "verify", "ok ")
    }
}
