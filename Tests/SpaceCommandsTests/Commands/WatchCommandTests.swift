import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

@Suite("watch and post", .blocking, .timeLimit(.minutes(5)))
struct WatchCommandTests {
    /// Starts a watch, and returns once it has said that it is ready.
    private func watch(_ runner: CommandRunner, _ words: String...) throws -> RunningCommand {
        let watch = try runner.start("space", ["watch"] + words)
        let line = try watch.readLine() ?? ""
        #expect(line.hasPrefix(#"{"event":"ready","seq":"#), "\(words): \(line)")
        return watch
    }

    /// The lines without the number, time and process with which each begins.
    private func events(_ lines: [String]) throws -> [String] {
        try lines.compactMap { line in
            guard case .object(let record) = try Value(json: line), case .string(let event)? = record["event"] else {
                throw TestFailure("no change: \(line)")
            }
            guard event != "ready" else { return nil }
            let shown = ["key", "part", "name", "tuple", "old", "new", "value", "from", "to"].compactMap { key in
                record[key].map { "\(key)=\($0.json)" }
            }
            return ([event] + shown).joined(separator: " ")
        }
    }

    @Test("Each change is a line, and the namespace's end is the last line")
    func everything() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let watch = try watch(runner, "jobs")
            try runner.shell(
                """
                space write jobs '{"a": 2}'; space take jobs '[1]'
                space set jobs k 1; space set jobs k null; space unset jobs k
                space post jobs hello '[$who]' --arg who me; space post jobs bare
                space delete jobs
                """
            )
            let result = try watch.finish()
            #expect(result.ending == .exited(0))
            #expect(result.errors == "")
            #expect(
                try events(result.lines) == [
                    #"write tuple={"a":2}"#, "take tuple=[1]", #"set key="k" new=1"#,
                    #"set key="k" old=1 new=null"#, #"unset key="k" old=null"#, #"post name="hello" value=["me"]"#,
                    #"post name="bare" value=null"#, "gone",
                ]
            )
            #expect(result.lines[1].hasPrefix(#"{"seq":2,"time":"#))
            #expect(result.lines[1].hasSuffix(#""event":"write","id":2,"tuple":{"a":2}}"#))
            // The end is not one of the changes that are counted.
            let seq = try result.lines.map { line -> Value? in
                if case .object(let record) = try Value(json: line) { record["seq"] } else { nil }
            }
            #expect(seq == (1...8).map { .int($0) } + [nil])
        }
    }

    @Test(
        "The kinds of changes can be chosen",
        arguments: [
            ([#"["a","?"]"#], [#"write tuple=["a",1]"#]),
            (["--key", "k.x"], [#"set key="k" part="x" new=1"#]),
            (
                ["--keys", "?"],
                [#"set key="k" new={"x":1,"y":1}"#, #"set key="k" old={"x":1,"y":1} new={"x":1,"y":2}"#]
            ),
            (["--all-keys"], [#"set key="k" new={"x":1,"y":1}"#, #"set key="k" old={"x":1,"y":1} new={"x":1,"y":2}"#]),
            (["--post", "p"], [#"post name="p" value=1"#]), (["--events", "post,expire"], [#"post name="p" value=1"#]),
            (
                [#"["a","?"]"#, "--events", "write,post"], [#"write tuple=["a",1]"#, #"post name="p" value=1"#]
            ),
            (["--max", "2", "--events", "write"], [#"write tuple=["a",1]"#, #"write tuple=["b"]"#]),
        ]
    )
    func choice(_ words: [String], _ expected: [String]) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try runner.start("space", ["watch", "jobs"] + words)
            _ = try watch.readLine()
            try runner.shell(
                """
                space write jobs '["a", 1]' '["b"]'; space post jobs p 1
                space set jobs k '{"x": 1, "y": 1}'; space set jobs k '{"x": 1, "y": 2}'; space delete jobs
                """
            )
            let result = try watch.finish()
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(try events(result.lines).filter { $0 != "gone" } == expected)
        }
    }

    @Test("A word that can't be understood is a usage error or bad data")
    func usage() throws {
        try withRoot { (runner) throws in
            for (words, status) in [
                (["jobs", "--events", "writes"], 64), (["jobs", "--events", ""], 64), (["jobs", "--from", "-1"], 64),
                (["jobs", "--from", "1", "--subscription", "s"], 64), (["jobs", "--initial", "--from", "1"], 64),
                (["jobs", "--pid", "0"], 64), (["jobs", "--max", "0"], 64),
                (["jobs", "--key", "k", "--all-keys"], 64), (["jobs", "--key", "k", "--keys", "*"], 64),
                (["jobs", "[1]", "[2]"], 64), (["jobs", "--"], 64),
                (["jobs", "--wait", "5x"], 64), (["--", "true"], 64), (["jobs", "[1]", "cat", "--", "cat"], 64),
                (["jobs"], 69), (["jobs", "["], 65),
            ] {
                let result = try runner.start("space", ["watch"] + words).finish()
                #expect(result.ending == .exited(Int32(status)), "\(words): \(result.errors)")
                #expect(result.output == "")
            }
            #expect(try runner.space("post", "jobs", "p").ending == .exited(69))
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("post", "jobs", "p").ending == .exited(0))
            #expect(try runner.space("post", "jobs", "p", "{").ending == .exited(65))
            #expect(try runner.space("post", "jobs", "").ending == .exited(65))
        }
    }

    @Test("--wait ends with 1 when there was no change, and waits for the namespace")
    func waiting() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("watch", "jobs", "--wait", "0").ending == .exited(1))
            #expect(try runner.space("watch", "jobs", "--wait", "10ms", "-E", "7").ending == .exited(7))
            #expect(try runner.space("list").output == "")
            let early = try runner.start("space", ["watch", "jobs", "--key", "k", "--wait", "--max", "1"])
            try runner.space("set", "jobs", "other", "1")
            // The change that creates the namespace may precede the watch: then it is a gap, and not counted.
            _ = try early.readLine()
            try runner.space("set", "jobs", "k", "2")
            #expect(try events(try early.finish().lines).last == #"set key="k" new=2"#)
            let result = try runner.space("watch", "jobs", "--wait", "10ms")
            #expect(result.ending == .exited(1))
            #expect(result.lines.count == 1 && result.lines[0].hasPrefix(#"{"event":"ready","seq":2,"life":""#))
        }
    }

    @Test("--from begins with that change; a change that the journal no longer holds is a gap")
    func from() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]", "[2]")
            let keeper = try watch(runner, "jobs")
            try runner.space("write", "jobs", "[3]", "[4]")
            let all = try runner.space("watch", "jobs", "--from", "1", "--wait", "0")
            #expect(all.ending == .exited(0))
            #expect(try events(all.lines) == ["gap from=1 to=2", "write tuple=[3]", "write tuple=[4]"])
            #expect(all.lines[1].hasPrefix(#"{"seq":2,"#))
            let last = try runner.space("watch", "jobs", "--from", "4", "--wait", "0")
            #expect(try events(last.lines) == ["write tuple=[4]"])
            keeper.signal(SIGTERM)
            try keeper.wait()
        }
    }

    @Test("A subscription goes on at its place, however its watch ended")
    func subscription() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let killed = try watch(runner, "jobs", "--subscription", "s")
            try runner.space("write", "jobs", "[1]")
            #expect(try events([try killed.readLine() ?? ""]) == ["write tuple=[1]"])
            // A printed change is not yet acknowledged: the position says when it is.
            #expect(try eventually { try runner.space("show", "jobs", "--json").output.contains(#""position":2"#) })
            #expect(try runner.space("watch", "jobs", "--subscription", "s").ending == .exited(64))
            killed.signal(SIGKILL)
            try killed.wait()
            try runner.space("write", "jobs", "[2]", "[3]", "[4]")
            let full = try runner.shell("space watch jobs --subscription s --wait 0 > /dev/full; echo $?")
            #expect(full.output == "74\n")
            let one = try runner.space("watch", "jobs", "--subscription", "s", "--max", "1")
            #expect(try events(one.lines) == ["write tuple=[2]"])
            let rest = try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0")
            #expect(try events(rest.lines) == ["write tuple=[3]", "write tuple=[4]"])
            #expect(try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0").ending == .exited(1))
        }
    }

    @Test("A subscription's watch goes on while the gate is busy, and acknowledges later")
    func busy() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try watch(runner, "jobs", "--subscription", "s", "--timeout", "50ms")
            try watch.stop()
            try runner.space("write", "jobs", "[1]")
            var (line, error): (String?, String?)
            try Space(root: runner.root).existingNamespace("jobs", owning: false).transaction { _ in
                watch.signal(SIGCONT)
                (line, error) = (try? watch.readLine(), try? watch.readErrorLine())
            }
            #expect(try events([line ?? ""]) == ["write tuple=[1]"])
            #expect(error?.hasSuffix("; trying again") == true, "\(error ?? "")")
            #expect(try eventually { try runner.space("show", "jobs", "--json").output.contains(#""position":2"#) })
            watch.signal(SIGTERM)
            #expect(try watch.wait() == .signalled(SIGTERM))
        }
    }

    @Test("A subscription whose reader is gone loses nothing")
    func brokenPipe() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try watch(runner, "jobs", "--subscription", "s")
            watch.closeOutput()
            // The watch ends by itself: it finds out without a change.
            let result = try watch.finish()
            #expect(result.ending == .exited(74))
            #expect(result.errors.contains("roken pipe"))
            try runner.space("write", "jobs", "[1]")
            let next = try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0")
            #expect(try events(next.lines) == ["write tuple=[1]"])
        }
    }

    @Test("A signal ends the watch, and its registration with it", arguments: [SIGINT, SIGTERM])
    func signals(_ number: Int32) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try watch(runner, "jobs")
            watch.signal(number)
            let result = try watch.finish()
            #expect(result.ending == .signalled(number))
            #expect(result.output.split(separator: "\n").count == 1)
            #expect(try runner.space("show", "jobs", "--json").output.contains(#""watchers":[]"#))
            let running = try runner.start(
                "space",
                ["watch", "jobs", "--", "sh", "-c", "echo on; exec tail -f /dev/null"]
            )
            try runner.awaitWatcher("jobs")
            try runner.space("write", "jobs", "[1]")
            #expect(try running.readLine() == "on")
            running.signal(number)
            #expect(try running.wait() == .signalled(number))
        }
    }

    @Test("A command runs for each change, and nothing else is printed")
    func command() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try runner.start("space", ["watch", "jobs", "--max", "3", "--", "sh", "-c", "cat; exit 3"])
            try runner.awaitWatcher("jobs")
            // First more than a pipe holds, then one change for a command that reads nothing.
            let long = "[\"\(String(repeating: "x", count: 300_000))\"]"
            try runner.space("write", "jobs", "[1]", "-", input: "\(long)\n[2]")
            let result = try watch.finish()
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(try events(result.lines) == ["write tuple=[1]", "write tuple=\(long)", "write tuple=[2]"])
            #expect(result.errors.contains("status 3 for change 2"))
            let deaf = try runner.start(
                "space",
                ["watch", "jobs", #"["?"]"#, "--max", "1", "--", "true", "--wait", "5x"]
            )
            try runner.awaitWatcher("jobs")
            try runner.space("write", "jobs", "-", input: long)
            let ended = try deaf.finish()
            #expect(ended.ending == .exited(0), "\(ended.errors)")
            #expect(ended.output == "")
        }
    }

    @Test("With a subscription a command that fails ends the watch, and gets the change again")
    func failingCommand() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            #expect(try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0").ending == .exited(1))
            try runner.space("write", "jobs", "[1]", "[2]")
            for (command, status) in [("exit 5", 5), ("kill -9 $$", 137)] {
                let failed = try runner.space(
                    "watch",
                    "jobs",
                    "--subscription",
                    "s",
                    "--wait",
                    "0",
                    "--",
                    "sh",
                    "-c",
                    "cat; \(command)"
                )
                #expect(failed.ending == .exited(Int32(status)), "\(failed.errors)")
                #expect(try events(failed.lines) == ["write tuple=[1]"])
            }
            let missing = try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0", "--", "/no/such/file")
            #expect(missing.ending == .exited(127))
            let done = try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0", "--", "cat")
            #expect(done.ending == .exited(0))
            #expect(try events(done.lines) == ["write tuple=[1]", "write tuple=[2]"])
            #expect(
                try runner.space("watch", "jobs", "--subscription", "s", "--wait", "0", "--", "cat").ending
                    == .exited(1)
            )
        }
    }

    @Test("A command dies with its killed watch")
    func killedWatch() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            // The command ignores all signals that can be ignored, and keeps standard output open as long as it lives.
            let script = "trap '' INT TERM HUP; echo on; while :; do sleep 60 > /dev/null; done"
            let watch = try runner.start("space", ["watch", "jobs", "--", "sh", "-c", script])
            try runner.awaitWatcher("jobs")
            try runner.space("write", "jobs", "[1]")
            #expect(try watch.readLine() == "on")
            watch.signal(SIGKILL)
            // The output ends when the command ends, because no other process has it open.
            #expect(try watch.readLine() == nil)
            try watch.wait()
        }
    }

    @Test("A command gets the signal dispositions that the watch got")
    func signalsOfACommand() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--history", "10", "[0]")
            let result = try runner.shell(
                """
                trap '' HUP
                grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
                space watch jobs --from 1 --max 1 -- grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
                """
            )
            #expect(result.ending == .exited(0), "\(result.errors)")
            #expect(result.lines.count == 6)
            // Only the lower half of the 64 signals: the C library keeps some of the upper half to itself.
            let halves = result.lines.map { $0.prefix(6) + $0.suffix(8) }
            #expect(Array(halves.prefix(3)) == Array(halves.suffix(3)))
            for (command, status) in [("/", 126), ("/no/such/file", 127), ("no-such-command", 127)] {
                let failed = try runner.space("watch", "jobs", "--from", "1", "--max", "1", "--", command)
                #expect(failed.ending == .exited(Int32(status)), "\(command)")
                #expect(failed.errors.contains("cannot run"))
            }
        }
    }

    @Test("--initial begins with the present contents, and --history keeps unwatched changes")
    func initialAndHistory() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "--history", "3", "[1]", "[2]")
            try runner.space("set", "jobs", "k", "5")
            try runner.space("take", "jobs", "[1]")
            let copy = try runner.space("watch", "jobs", "--initial", "--wait", "0")
            #expect(try events(copy.lines) == ["write tuple=[2]", #"set key="k" new=5"#])
            #expect(copy.lines.dropFirst().allSatisfy { $0.contains(#""present":true"#) })
            let late = try runner.space("watch", "jobs", "--from", "1", "--wait", "0")
            #expect(
                try events(late.lines) == [
                    "gap from=1 to=1", "write tuple=[2]", #"set key="k" new=5"#, "take tuple=[1]",
                ]
            )
            let history = #"{"changes":3,"bytes":16777216}"#
            #expect(try runner.space("history", "jobs").output == history + "\n")
            #expect(try runner.space("show", "jobs", "--json").output.contains(#""history":\#(history)"#))
            let dump = try runner.dump("jobs", "--format", "json")
            #expect(dump.output.contains(#""history":\#(history)"#))
            let rows = dump.lines.filter { $0.hasPrefix(#"{"kind":"change""#) }
            #expect(try events(rows) == Array(try events(late.lines).dropFirst()))
            #expect(try runner.dump("jobs").output.contains("take   [1]"))
            try runner.space("load", "loaded", input: dump.output)
            #expect(try runner.space("history", "loaded").output == history + "\n")
            #expect(try runner.space("history", "jobs", "none").ending == .exited(0))
            #expect(try runner.space("history", "jobs").output == "null\n")
            #expect(try runner.space("history", "jobs", "7,1000").ending == .exited(0))
            #expect(try runner.space("history", "jobs").output == #"{"changes":7,"bytes":1000}"# + "\n")
            for words in ["0", "x", "1,", "1,2,3", "99999999999"] {
                #expect(try runner.space("history", "jobs", words).ending == .exited(64), "\(words)")
            }
            #expect(try runner.space("write", "other", "--history", "x", "[1]").ending == .exited(64))
            #expect(try runner.space("history", "missing").ending == .exited(69))
        }
    }

    @Test("--pid chooses the process whose notifications are printed")
    func ofAProcess() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try watch(runner, "jobs", "--pid", "\(getpid())", "--max", "1")
            try runner.space("post", "jobs", "p", "1")
            do {
                let namespace = try Space(root: runner.root).namespace("jobs", owning: false)
                try namespace.post("q", 2)
            }
            #expect(try events(try watch.finish().lines) == [#"post name="q" value=2"#])
        }
    }

    @Test("--namespaces prints which namespaces come and go")
    func namespaces() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "a", "[0]")
            let watch = try runner.start("space", ["watch", "--namespaces", "--initial"])
            #expect(try watch.readLine() == #"{"event":"ready"}"#)
            #expect(try watch.readLine() == #"{"event":"appeared","name":"a"}"#)
            try runner.space("write", "b", "[0]")
            #expect(try watch.readLine() == #"{"event":"appeared","name":"b"}"#)
            try runner.space("delete", "a")
            #expect(try watch.readLine() == #"{"event":"disappeared","name":"a"}"#)
            watch.signal(SIGTERM)
            #expect(try watch.wait() == .signalled(SIGTERM))
            let now = try runner.space("watch", "--namespaces", "--wait", "0")
            #expect(now.ending == .exited(1))
            #expect(now.output == #"{"event":"ready"}"# + "\n")
            let there = try runner.space("watch", "--namespaces", "--initial", "--max", "1")
            #expect(there.ending == .exited(0) && there.lines.count == 2)
            for words in [["jobs"], ["--from", "1"], ["--key", "k"], ["--", "true"]] {
                let refused = try runner.start("space", ["watch", "--namespaces"] + words).finish()
                #expect(refused.ending == .exited(64), "\(words)")
            }
            #expect(try runner.space("watch").ending == .exited(64))
            let broken = try runner.start("space", ["watch", "--namespaces"])
            _ = try broken.readLine()
            broken.closeOutput()
            #expect(try broken.finish().ending == .exited(74))
        }
    }

    @Test("Watchers are shown and dumped")
    func shown() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let watch = try watch(runner, "jobs", "[1]", "--subscription", "s\u{1B}", "--events", "write")
            let watcher =
                #""pid":\#(watch.pid),"filter":"[1], write","position":1,"subscription":"s\u001b"}"#
            #expect(try runner.space("show", "jobs", "--json").output.contains(#""watchers":[{\#(watcher)]"#))
            #expect(try runner.dump("jobs", "--format", "json").lines.contains(#"{"kind":"watcher",\#(watcher)"#))
            for text in [try runner.space("show", "jobs").output, try runner.dump("jobs").output] {
                #expect(text.contains("1 watcher"))
                #expect(text.contains("[1], write"))
                #expect(!text.contains("\u{1B}"))
            }
            watch.signal(SIGTERM)
            try watch.wait()
        }
    }

    @Test("Observations of a process are shown and dumped, until it dies")
    func observed() throws {
        try withRoot { (runner) throws in
            try runner.space("set", "jobs", "--persistent", "progress", "0.5")
            let observers = try [
                (
                    "",
                    #""?", all keys, all posts, all collections, all responders, all that is held and counted"#
                ),
                ("user.name", "key user.name"),
            ]
            .map {
                (words, filter) in
                let agent = try Agent()
                try agent.run("open \(runner.root) jobs owning=0")
                try agent.run("observe \(words)")
                return (agent: agent, filter: filter)
            }
            for (agent, filter) in observers {
                let watcher = #""pid":\#(agent.pid),"filter":\#(Value.string(filter).json),"#
                #expect(try runner.space("show", "jobs", "--json").output.contains("{" + watcher))
                let lines = try runner.dump("jobs", "--format", "json").lines
                #expect(lines.contains { $0.hasPrefix(#"{"kind":"watcher",\#(watcher)"#) })
                for text in [try runner.space("show", "jobs").output, try runner.dump("jobs").output] {
                    #expect(text.contains("2 watchers"))
                    #expect(
                        text.split(separator: "\n").contains { $0.contains("\(agent.pid)") && $0.hasSuffix(filter) }
                    )
                }
            }
            // The tick of the other process drops the registrations of the dead one.
            try observers[1].agent.kill()
            #expect(
                try eventually {
                    let text = try runner.space("show", "jobs", "--json").output
                    return text.contains(#"{"pid":\#(observers[0].agent.pid),"filter""#) && !text.contains("user.name")
                }
            )
        }
    }
}

extension CommandRunner {
    /// Returns once a process watches a namespace.
    func awaitWatcher(_ namespace: String) throws {
        let isWatched = try eventually {
            try space("show", namespace, "--json").output.contains(#""watchers":[{"#)
        }
        guard isWatched else { throw TestFailure("nobody watches \(namespace)") }
    }
}
