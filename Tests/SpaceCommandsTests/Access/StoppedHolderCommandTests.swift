import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// The commands' results while a process is stopped in the gate: a change is refused with status 75 and the PID of the
/// process, and a dump works because it needs no lock.
@Suite("A stopped holder of the gate", .blocking, .timeLimit(.minutes(5)))
struct StoppedHolderCommandTests {
    @Test(
        "What is held while a command runs changes nothing in the command's status, and the next has it",
        arguments: [["lock", "n", "a"], ["semaphore", "n", "s", "--permits", "1"], ["elect", "n", "e"]]
    )
    func lettingGo(_ words: [String]) throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let holder = try Agent(root, "n")
        let command = try runner.start(
            "space",
            words + ["--timeout", "200ms", "--", "sh", "-c", "echo held; read go; exit 3"]
        )
        #expect(try command.readLine() == "held")
        try holder.run("arm stop gateTaken")
        try holder.send("write [\"late\", 2]")
        try holder.waitUntilStopped()
        try command.send("go\n")
        let result = try command.finish()
        #expect(result.ending == .exited(3), "\(result.errors)")
        #expect(result.errors.contains("process \(holder.pid)"), "\(result.errors)")
        #expect(result.errors.contains("the command has ended all the same"), "\(result.errors)")
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        #expect(try runner.start("space", words + ["--", "true"]).finish().ending == .exited(0))
    }

    @Test(
        "A signal ends a command that waits for it, whatever its time-out",
        arguments: [["write", "n", "[1]"], ["take", "n", #"["kept","?"]"#], ["lock", "n", "a", "--", "true"]],
        [SIGINT, SIGTERM, SIGHUP]
    )
    func signalled(_ words: [String], _ signal: Int32) throws {
        let root = try TemporaryRoot()
        let holder = try Agent(root, "n")
        try holder.run("write [\"kept\", 1]")
        try holder.run("arm stop gateTaken")
        try holder.send("write [\"late\", 2]")
        try holder.waitUntilStopped()
        let command = try CommandRunner(root: root.path)
            .start("space", words.prefix(1) + ["--timeout", "10m"] + words.dropFirst())
        #expect(
            try eventually {
                String(decoding: try bytes(ofFile: "/proc/\(command.pid)/wchan"), as: UTF8.self).contains("futex")
            }
        )
        command.signal(signal)
        #expect(try command.finish().ending == .signalled(signal))
        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        #expect(try CommandRunner(root: root.path).tuples("n") == [#"["kept",1]"#, #"["late",2]"#])
    }

    @Test("Changes are 75 and name the holder, space-dump still prints, and afterwards all go on")
    func isNamed() throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let holder = try Agent(root, "n")
        try holder.run("write [\"kept\", 1]")
        try holder.run("arm stop gateTaken")
        try holder.send("write [\"late\", 2]")
        try holder.waitUntilStopped()

        let refusals = [
            try runner.space("write", "n", "[1]", "--timeout", "200ms"),
            try runner.space("take", "n", #"["kept","?"]"#, "--timeout", "200ms"),
            try runner.space("get", "n", "k", "--timeout", "200ms"),
        ]
        for refused in refusals {
            #expect(refused.status == 75, "\(refused.errors)")
            #expect(refused.output == "")
            #expect(refused.errors.contains("process \(holder.pid)"))
            #expect(refused.errors.contains("kill -CONT \(holder.pid)"))
        }
        for format in ["text", "json"] {
            let dumped = try runner.dump("n", "--format", format)
            #expect(dumped.ending == .exited(0))
            #expect(dumped.output.contains(#"["kept",1]"#))
            #expect(dumped.errors.contains("\(holder.pid)"), "it says why it reads without locks")
        }

        holder.resume()
        #expect(try holder.line()?.hasPrefix("ok ") == true)
        #expect(try runner.tuples("n") == [#"["kept",1]"#, #"["late",2]"#])
        let check = try runner.dump("--check", "--all")
        #expect(check.ending == .exited(0) && check.errors == "", "\(check.output)\(check.errors)")
    }
}
