import Glibc
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("respond and request", .blocking, .timeLimit(.minutes(5)))
struct RespondCommandTests {
    private func await(_ count: Int, _ runner: CommandRunner) throws {
        #expect(
            try eventually {
                let shown = try runner.space("show", "jobs", "--json")
                return shown.status == 0 && shown.output.components(of: "\"order\":") == count
            }
        )
    }

    @Test("A command answers, and the request prints its output")
    func answers() throws {
        try withRoot { (runner) throws in
            let responder = try runner.start("space", ["respond", "jobs", "f", "--key", "k", "--", "/bin/cat"])
            try self.await(1, runner)
            let reply = try runner.space("request", "jobs", "f", #"{"a":[1,"?"]}"#, "--wait", "60s")
            #expect(reply.ending == .exited(0), "\(reply.errors)")
            #expect(reply.output == "{\"a\":[1,\"?\"]}\n")
            #expect(try runner.space("request", "jobs", "f", "--wait", "60s").output == "null\n")
            let dump = try runner.dump("--format", "json", "jobs")
            #expect(dump.output.contains(#""kind":"responder","name":"f","key":"k""#), "\(dump.output)")
            kill(responder.pid, SIGTERM)
            #expect(try responder.finish().ending == .signalled(SIGTERM))
        }
    }

    @Test("A failing command is 76, no responder is 1, no namespace is 69")
    func failures() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("request", "jobs", "f").ending == .exited(69))
            #expect(try runner.space("request", "jobs", "f", "--wait", "10ms").ending == .exited(1))
            try runner.space("write", "jobs", "[]")
            #expect(try runner.space("request", "jobs", "f", "--wait", "0").ending == .exited(1))
            #expect(try runner.space("request", "jobs", "f", "--wait", "0", "-E", "9").ending == .exited(9))
            let responder = try runner.start("space", ["respond", "jobs", "f", "--", "/bin/sh", "-c", "exit 3"])
            try self.await(1, runner)
            let failed = try runner.space("request", "jobs", "f", "--wait", "60s")
            #expect(failed.ending == .exited(76))
            #expect(failed.errors.contains("status 3"), "\(failed.errors)")
            kill(responder.pid, SIGTERM)
            _ = try responder.finish()
        }
    }

    /// Its time is over before the command asks; that is no `--wait 0`, with which it would wait for the reply.
    @Test("A reply that comes after --wait is not waited for")
    func tooLate() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[]")
            let responder = try runner.start(
                "space",
                ["respond", "jobs", "f", "--", "/bin/sh", "-c", "sleep 2; echo 1"]
            )
            try self.await(1, runner)
            let late = try runner.space("request", "jobs", "f", "--wait", "1ms")
            #expect(late.ending == .exited(1) && late.output == "", "\(late)")
            #expect(late.errors.contains("process \(responder.pid)"), "\(late.errors)")
            kill(responder.pid, SIGTERM)
            _ = try responder.finish()
        }
    }

    @Test("The command asks the responder below with --next")
    func asksBelow() throws {
        try withRoot { (runner) throws in
            let space = CommandRunner.path("space")
            let base = try runner.start(
                "space",
                ["respond", "jobs", "f", "--base", "--key", "base", "--", "/bin/sh", "-c", "sed 's/.*/[\"base\",&]/'"]
            )
            try self.await(1, runner)
            // The first asks with another argument; the second with its own, and says what it is.
            let script = #"'\#(space)' request --next --wait 0 "[$(cat)]""#
            let middle = try runner.start("space", ["respond", "jobs", "f", "--", "/bin/sh", "-c", script])
            try self.await(2, runner)
            let names = #"echo "[\"$SHARED_SPACE_NAMESPACE $SHARED_SPACE_NAME $SHARED_SPACE_KEY\",$reply]""#
            let top = try runner.start(
                "space",
                [
                    "respond", "jobs", "f", "--key", "top", "--", "/bin/sh", "-c",
                    "reply=$('\(space)' request --next); \(names)",
                ]
            )
            try self.await(3, runner)
            let reply = try runner.space("request", "jobs", "f", "7", "--wait")
            #expect(reply.output == "[\"jobs f top\",[\"base\",[7]]]\n", "\(reply.errors)")
            for responder in [middle, top, base] {
                kill(responder.pid, SIGTERM)
                _ = try responder.finish()
            }
            #expect(try runner.space("request", "--next").ending == .exited(64))
            #expect(try runner.space("request", "--next", "jobs", "f").ending == .exited(64))
            #expect(try runner.space("request", "jobs").ending == .exited(64))
        }
    }

    /// The request goes on below the one that the killed process had asked, which is not asked twice.
    @Test("A process that asks with --next may be killed")
    func askerBelowIsKilled() throws {
        try withRoot { (runner) throws in
            let space = CommandRunner.path("space")
            let folder = try TemporaryRoot()
            let (log, number) = ("\(folder.path)/log", "\(folder.path)/pid")
            func text(_ path: String) -> String {
                (try? String(decoding: FileBytes.read(at: AT_FDCWD, path, limit: 1 << 16), as: UTF8.self)) ?? ""
            }
            func requests() throws -> Int {
                try runner.space("show", "jobs", "--json").output.components(of: "\"responder\":")
            }
            let scripts = [
                ("base", "echo 3"), ("middle", "echo x >> '\(log)'; exec sleep 1000"),
                ("top", "'\(space)' request --next & echo $! > '\(number)'; wait; exec sleep 1000"),
            ]
            var responders: [RunningCommand] = []
            for (key, script) in scripts {
                responders.append(
                    try runner.start("space", ["respond", "jobs", "f", "--key", key, "--", "/bin/sh", "-c", script])
                )
                try self.await(responders.count, runner)
            }
            let asker = try runner.start("space", ["request", "jobs", "f", "--wait"])
            #expect(try eventually { text(log) == "x\n" && text(number).hasSuffix("\n") })
            #expect(try requests() == 2)
            let pid = try #require(Int32(text(number).dropLast()))
            kill(pid, SIGKILL)
            #expect(try eventually { try requests() == 1 })
            kill(responders[2].pid, SIGKILL)
            _ = try responders[2].finish()
            #expect(try asker.finish().output == "3\n")
            #expect(text(log) == "x\n")
            for responder in responders[..<2] {
                kill(responder.pid, SIGTERM)
                _ = try responder.finish()
            }
            withExtendedLifetime(folder) {}
        }
    }

    @Test("Without a responder below, --next is 1")
    func nothingBelow() throws {
        try withRoot { (runner) throws in
            let space = CommandRunner.path("space")
            let only = try runner.start(
                "space",
                ["respond", "jobs", "f", "--", "/bin/sh", "-c", "exec '\(space)' request --next 5"]
            )
            try self.await(1, runner)
            let reply = try runner.space("request", "jobs", "f", "--wait")
            #expect(reply.ending == .exited(76))
            #expect(reply.errors.contains("status 1"), "\(reply.errors)")
            kill(only.pid, SIGTERM)
            _ = try only.finish()
        }
    }

    @Test("Responders are listed, removed by key, and watched")
    func listed() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("respond", "jobs", "--list").ending == .exited(69))
            try runner.space("write", "jobs", "[]")
            #expect(try runner.space("respond", "jobs", "--list").output == "")
            let watch = try runner.start("space", ["watch", "jobs", "--responder", "f", "--max", "4"])
            _ = try watch.readLine()
            let first = try runner.start("space", ["respond", "jobs", "f", "--key", "a", "--", "/bin/cat"])
            try self.await(1, runner)
            let second = try runner.start("space", ["respond", "jobs", "g", "--key", "b", "--", "/bin/cat"])
            try self.await(2, runner)
            let all = try runner.space("respond", "jobs", "--list").lines
            #expect(all.count == 2 && all[0].hasPrefix(#"{"name":"f","key":"a","pid":\#(first.pid),"#), "\(all)")
            #expect(try runner.space("respond", "jobs", "g", "--list").lines == [all[1]])
            #expect(try runner.space("respond", "jobs", "f", "--remove", "--key", "b").ending == .exited(1))
            #expect(try runner.space("respond", "jobs", "f", "--remove", "--key", "a").ending == .exited(0))
            #expect(try first.finish().ending == .exited(0))
            let killed = try runner.start("space", ["respond", "jobs", "f", "--key", "c", "--", "/bin/cat"])
            try self.await(2, runner)
            kill(killed.pid, SIGKILL)
            _ = try killed.finish()
            let told = try watch.finish().lines.filter { !$0.contains("ready") }
            #expect(told.map { $0.contains(#""event":"respond","name":"f""#) } == [true, true, true, true], "\(told)")
            #expect(
                told.map { $0.contains("new") } == [true, false, true, false] && told[1].hasSuffix(#""old":"a"}"#)
            )
            kill(second.pid, SIGTERM)
            _ = try second.finish()
            for words in [
                ["f", "--list", "--", "cat"], ["--remove", "--key", "a"], ["f", "--remove"],
                ["f", "--list", "--remove"], ["f"],
            ] {
                #expect(
                    try runner.start("space", ["respond", "jobs"] + words).finish().ending == .exited(64),
                    "\(words)"
                )
            }
        }
    }

    @Test("With --once it answers one request and ends")
    func once() throws {
        try withRoot { (runner) throws in
            let responder = try runner.start(
                "space",
                ["respond", "jobs", "f", "--once", "--raw", "--", "echo", "hello"]
            )
            try runner.space("write", "jobs", "[]")
            let reply = try runner.space("request", "jobs", "f", "-r", "--wait")
            #expect(reply.output == "hello\n", "\(reply.errors)")
            #expect(try responder.finish().ending == .exited(0))
            #expect(try runner.space("request", "jobs", "f", "--wait", "0").ending == .exited(1))
        }
    }
}

extension String {
    /// How often a text occurs in another.
    fileprivate func components(of text: String) -> Int {
        var count = 0
        var rest = self[...]
        while !rest.isEmpty {
            if rest.hasPrefix(text) { count += 1 }
            rest = rest.dropFirst()
        }
        return count
    }
}
