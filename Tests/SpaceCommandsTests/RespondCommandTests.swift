import Glibc
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
            let reply = try runner.space("request", "jobs", "f", #"{"a":[1,"?"]}"#)
            #expect(reply.ending == .exited(0), "\(reply.errors)")
            #expect(reply.output == "{\"a\":[1,\"?\"]}\n")
            #expect(try runner.space("request", "jobs", "f").output == "null\n")
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
            let failed = try runner.space("request", "jobs", "f")
            #expect(failed.ending == .exited(76))
            #expect(failed.errors.contains("status 3"), "\(failed.errors)")
            kill(responder.pid, SIGTERM)
            _ = try responder.finish()
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
