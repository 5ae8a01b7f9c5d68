import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("lock, semaphore, elect, barrier, latch, counter, rate, queue, eval", .blocking, .timeLimit(.minutes(5)))
struct RecipeCommandTests {
    @Test("A lock passes the command's status on, and a waiter gets the lock next")
    func lock() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            for (command, status) in [("exit 0", 0), ("exit 3", 3), ("kill -TERM $$", 128 + SIGTERM)] {
                let result = try runner.space("lock", "jobs", "a", "--", "/bin/sh", "-c", command)
                #expect(result.ending == .exited(Int32(status)), "\(command): \(result.errors)")
            }
            #expect(try runner.space("lock", "jobs", "a", "--", "/nonexistent").ending == .exited(127))
            #expect(try runner.space("lock", "jobs", "a").ending == .exited(64))
            let first = try runner.space("lock", "jobs", "a", "--", "/bin/sh", "-c", "echo $SHARED_SPACE_FENCING")
            let second = try runner.space("lock", "jobs", "a", "--", "/bin/sh", "-c", "echo $SHARED_SPACE_FENCING")
            #expect(try #require(Int(first.lines[0])) < #require(Int(second.lines[0])))
            let input = try runner.space("lock", "jobs", "a", "--", "cat", input: "through\n")
            #expect(input.output == "through\n")
        }
    }

    @Test("A held lock is 1, or what -E gives, and its holder is named; a killed holder takes its command along")
    func held() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let holder = try runner.start(
                "space",
                ["lock", "jobs", "a", "--", "/bin/sh", "-c", "echo $$; exec sleep 1000"]
            )
            guard let line = try holder.readLine(), let command = pid_t(line) else { throw TestFailure("no PID") }
            let once = try runner.space("lock", "jobs", "a", "--wait", "0", "--", "true")
            #expect(once.ending == .exited(1))
            #expect(once.errors.contains("is held by process"))
            let nine = try runner.space("lock", "jobs", "a", "-E", "9", "--wait", "10ms", "--shared", "--", "true")
            #expect(nine.ending == .exited(9))
            let show = try runner.space("show", "jobs")
            #expect(show.output.contains("held, and waited for"))
            #expect(
                try runner.space("show", "--json", "jobs").output.contains(
                    #""holds":[{"name":"a","type":"lock","held":true"#
                )
            )
            #expect(try runner.dump("--format", "json", "jobs").output.contains(#"{"kind":"hold","name":"a""#))
            #expect(try runner.dump("jobs").output.contains("held, and waited for"))
            let next = try runner.start("space", ["lock", "jobs", "a", "--", "echo", "mine"])
            #expect(try eventually { try runner.space("show", "jobs").output.contains("waits for") })
            holder.signal(SIGKILL)
            try holder.wait()
            #expect(try next.finish().output == "mine\n")
            let isGone = try eventually {
                let state = try runner.shell("cat /proc/\(command)/stat 2>&-").output
                return state.isEmpty || state.contains(") Z ")
            }
            #expect(isGone)
        }
    }

    @Test("The other recipes follow their help")
    func others() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("semaphore", "jobs", "s", "--permits", "2", "--", "echo", "in").output == "in\n")
            let nested = try runner.shell(
                "space semaphore jobs s --permits 1 -- space semaphore jobs s --permits 1 --wait 0 -- true"
            )
            #expect(nested.status == 1)
            #expect(try runner.space("elect", "jobs", "e").ending == .exited(1))
            let leader = try runner.shell("space elect jobs e --as '\"me\"' -- space elect jobs e")
            #expect(leader.output.contains(#""value":"me""#), "\(leader.errors)")
            #expect(try runner.space("barrier", "jobs", "b", "--parties", "1").ending == .exited(0))
            #expect(try runner.space("barrier", "jobs", "b", "--parties", "2", "--wait", "10ms").ending == .exited(1))
            #expect(try runner.space("latch", "jobs", "l", "--count", "1", "--wait", "0").ending == .exited(1))
            #expect(try runner.space("latch", "jobs", "l", "--count", "1", "--down").output == "0\n")
            #expect(try runner.space("latch", "jobs", "l", "--count", "1").ending == .exited(0))
            #expect(try runner.space("counter", "jobs", "l").ending == .exited(65))
            #expect(try runner.space("counter", "jobs", "c", "5").output == "5\n")
            #expect(try runner.space("counter", "jobs", "c", "-2").output == "3\n")
            #expect(
                try runner.space("rate", "jobs", "r", "--limit", "1", "--per", "1h", "--", "echo", "x").output == "x\n"
            )
            #expect(
                try runner.space("rate", "jobs", "r", "--limit", "1", "--per", "1h", "--wait", "1s").ending
                    == .exited(1)
            )
        }
    }

    @Test("A queue's item is worked on until a command succeeds")
    func queue() throws {
        try withRoot { (runner) throws in
            try runner.space(
                "queue",
                "jobs",
                "q",
                "put",
                #"{"to":"ada"}"#,
                "--deliveries",
                "2",
                environment: [
                    "SHARED_SPACE_OWNER": "\(getpid())"
                ]
            )
            let failed = try runner.space("queue", "jobs", "q", "take", "--", "/bin/sh", "-c", "cat; exit 4")
            #expect(failed.ending == .exited(4))
            #expect(failed.output == "{\"to\":\"ada\"}\n")
            #expect(try runner.space("queue", "jobs", "q", "count").output.contains(#""ready":1"#))
            try runner.space("queue", "jobs", "q", "take", "--", "false")
            #expect(try runner.space("queue", "jobs", "q", "take", "--", "true").ending == .exited(1))
            #expect(try runner.space("queue", "jobs", "q", "buried").output.contains(#""value":{"to":"ada"}"#))
            #expect(try runner.space("queue", "jobs", "q", "kick", "--deliveries", "2").output == "1\n")
            #expect(try runner.space("queue", "jobs", "q", "take", "--", "true").ending == .exited(0))
            #expect(try runner.space("queue", "jobs", "q", "take").ending == .exited(64))
        }
    }

    @Test("A command's output becomes a tuple if the command succeeds")
    func eval() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("eval", "jobs", "--", "echo", #"["sum",3]"#).ending == .exited(0))
            #expect(try runner.space("eval", "jobs", "--", "echo", "nonsense").ending == .exited(1))
            #expect(try runner.space("eval", "jobs", "--", "/bin/sh", "-c", "echo '[2]'; exit 5").ending == .exited(5))
            #expect(try runner.space("eval", "jobs", "--wait", "10ms", "--", "sleep", "1000").ending == .exited(1))
            #expect(try runner.tuples("jobs") == ["[1]", #"["sum",3]"#])
        }
    }

    @Test("An impossible name is bad data, and creates nothing")
    func names() throws {
        try withRoot { (runner) throws in
            for name in ["", String(repeating: "a", count: 241)] {
                for words in [
                    ["lock", "jobs", name, "--", "true"], ["semaphore", "jobs", name, "--permits", "1", "--", "true"],
                    ["elect", "jobs", name], ["elect", "jobs", name, "--", "true"],
                    ["barrier", "jobs", name, "--parties", "1"], ["latch", "jobs", name, "--count", "1", "--down"],
                    ["counter", "jobs", name], ["rate", "jobs", name, "--limit", "1", "--per", "1s"],
                    ["queue", "jobs", name, "put", "1"], ["respond", "jobs", name, "--", "true"],
                    ["request", "jobs", name],
                ] {
                    let result = try runner.start("space", words).finish()
                    #expect(result.ending == .exited(65), "\(words): \(result.errors)")
                    // The message says what was attempted, on what, why it failed and what to do.
                    let message =
                        /space: cannot use an? [a-z ]+ \(namespace "jobs"\): the name has \d+ bytes; give a name of .+\n/
                    #expect(result.errors.wholeMatch(of: message) != nil, "\(words): \(result.errors)")
                }
            }
            let key = String(repeating: "k", count: 241)
            let result = try runner.start("space", ["respond", "jobs", "x", "--key", key, "--", "true"]).finish()
            #expect(result.ending == .exited(65))
            #expect(result.errors.contains(#"(namespace "jobs"): its key has 241 bytes"#), "\(result.errors)")
            #expect(try runner.space("list").output == "")
        }
    }
}
