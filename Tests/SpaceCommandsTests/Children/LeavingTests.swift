import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// A command that has done its work but can't leave the namespace, because another process is stopped while it holds
/// the door.
@Suite("Leaving while the door is held", .blocking, .timeLimit(.minutes(5)))
struct LeavingTests {
    /// Runs a command whose program waits for a word, and stops another process while it holds the door, before the
    /// word comes.
    private func run(_ runner: CommandRunner, _ words: [String]) throws -> CommandResult {
        let fifo = "\(runner.root)/.go"
        #expect(mkfifo(fifo, 0o600) == 0)
        defer { unlink(fifo) }
        let command = try runner.start(
            "space",
            words + ["--timeout", "200ms", "--", "/bin/sh", "-c", "echo ready; read line < '\(fifo)'"]
        )
        #expect(try command.readLine() == "ready")
        let visitor = try Agent()
        try visitor.run("arm stop doorTaken")
        try visitor.send("open \(runner.root) jobs creates=0")
        try visitor.waitUntilStopped()
        #expect(try runner.shell("echo go > '\(fifo)'").status == 0)
        let result = try command.finish()
        #expect(result.errors.contains("process \(visitor.pid)"), "\(result.errors)")
        #expect(result.errors.contains("done all the same"), "\(result.errors)")
        visitor.resume()
        #expect(try visitor.line() == "ok")
        try visitor.exit()
        return result
    }

    @Test("claim completes, and ends with the program's status")
    func claim() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job"]"#, #"["other"]"#)
            #expect(try run(runner, ["claim", "jobs", #"["job"]"#]).ending == .exited(0))
            #expect(try runner.tuples("jobs") == [#"["other"]"#])
        }
    }

    @Test("lock ends with the program's status")
    func lock() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try run(runner, ["lock", "jobs", "l"]).ending == .exited(0))
            #expect(try runner.space("lock", "jobs", "l", "--wait", "0", "--", "true").ending == .exited(0))
        }
    }
}
