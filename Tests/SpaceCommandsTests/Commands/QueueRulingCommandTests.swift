import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// What is done to a queue's items from outside, and to a queue as a whole.
@Suite("queue: ruling", .blocking, .timeLimit(.minutes(5)))
struct QueueRulingCommandTests {
    private let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]

    private func withQueue(_ body: (CommandRunner, (String...) throws -> CommandResult) throws -> Void) throws {
        try withRoot { (runner) throws in
            func queue(_ words: String...) throws -> CommandResult {
                try runner.start("space", ["queue", "jobs", "q"] + words, environment: owner).finish()
            }
            try body(runner, queue)
            let check = try runner.dump("jobs", "--check")
            #expect(check.ending == .exited(0), "\(check.output)")
        }
    }

    private func worker(_ runner: CommandRunner, _ words: String...) throws -> RunningCommand {
        try runner.start("space", ["queue", "jobs", "q", "take"] + words, environment: owner)
    }

    @Test("An item is cancelled in any state, and the command that works on it is ended")
    func cancel() throws {
        try withQueue { (runner, queue) throws in
            let ids = try queue("put", "1", "2", "--group", "g").lines + queue("put", "3", "--delay", "1h").lines
            let taking = try worker(runner, "--", "/bin/sh", "-c", "echo on; exec sleep 1000")
            #expect(try taking.readLine() == "on")
            let buried = try queue("put", "4").lines
            #expect(try queue("take", buried[0], "--", "/bin/sh", "-c", "exit 65").ending == .exited(65))
            let refused = try queue("remove", ids[0])
            #expect(refused.ending == .exited(1) && refused.errors.contains("a worker has it"), "\(refused.errors)")
            // From the last to the first, so that the blocked item does not become ready.
            let all = [buried[0], ids[2], ids[1], ids[0]]
            for id in all { #expect(try queue("cancel", id).ending == .exited(0)) }
            let ended = try taking.finish()
            #expect(ended.ending == .exited(75), "\(ended.errors)")
            #expect(try queue("peek").output == "")
            let again = try queue("cancel", ids[0])
            #expect(again.ending == .exited(1) && again.errors.contains("there is none"), "\(again.errors)")
        }
    }

    @Test("What does nothing says why")
    func hindrances() throws {
        try withQueue { (runner, queue) throws in
            let id = try queue("put", "1").lines[0]
            #expect(try queue("take", id, "--wait", "1h", "--", "/bin/cat").ending == .exited(64))
            let kicked = try queue("kick", id)
            #expect(kicked.ending == .exited(1) && kicked.errors.contains("ready, and not buried"), "\(kicked.errors)")
            let all = try queue("kick")
            #expect(all.ending == .exited(1) && !all.errors.isEmpty && all.output == "0\n")
            let removed = try queue("remove", "999", id)
            #expect(removed.ending == .exited(1) && removed.errors.contains("item 999"), "\(removed.errors)")
            #expect(try queue("peek").output == "")
            // Each state has its own reason why the item of a number can't be taken.
            let ids = try queue("put", "2", "3", "--group", "g").lines
            let buried = try queue("put", "4").lines[0]
            #expect(try queue("take", buried, "--", "/bin/sh", "-c", "exit 65").ending == .exited(65))
            let held = try queue("take", ids[0], "--hold")
            #expect(held.output == "\(ids[0])\n", "\(held.errors)")
            for (id, reason) in [
                ("999", "there is none"), (ids[0], "a worker has it"), (ids[1], "it is blocked"),
                (buried, "it is buried"),
            ] {
                for words in [["--hold"], ["--", "true"]] {
                    let taken = try runner.start("space", ["queue", "jobs", "q", "take", id] + words).finish()
                    #expect(taken.ending == .exited(1) && taken.errors.contains(reason), "\(id): \(taken.errors)")
                }
            }
            let quiet = try queue("take", "999", "--quiet", "--", "true")
            #expect(quiet.ending == .exited(1) && quiet.errors == "")
            for verb in ["complete", "release", "bury"] {
                let ended = try queue(verb, "999")
                #expect(ended.ending == .exited(75) && ended.errors.contains("is not held"), "\(ended.errors)")
            }
            let tuple = try runner.space("kick", "jobs", "999")
            #expect(tuple.ending == .exited(1) && tuple.errors.contains("no buried tuple has the id 999"))
            let none = try queue("extend", "999", "1m")
            #expect(none.ending == .exited(75) && none.errors.contains("no worker has it"), "\(none.errors)")
        }
    }

    @Test("A command asks for more time for its own item, and for no other's")
    func extend() throws {
        try withQueue { (runner, queue) throws in
            try runner.space("queue", "jobs", "q", "put", "1", environment: owner)
            let script = """
                space queue jobs q extend 2h; echo $?
                space queue jobs q extend $SHARED_SPACE_ID 2h; echo $?
                space queue jobs other extend 2h 2>&-; echo $?
                SHARED_SPACE_HOLD=1 space queue jobs q extend 2h 2>&-; echo $?
                space write jobs '[1]'; space claim jobs '[1]' -- space queue jobs q extend 2h 2>&-; echo $?
                """
            let taken = try queue("take", "--ttr", "1h", "--", "/bin/sh", "-c", script)
            #expect(taken.lines == ["0", "0", "64", "75", "64"], "\(taken.errors)")
            #expect(try queue("extend", "1h").ending == .exited(64))
        }
    }

    @Test("The numbers that are set count for all, whatever they give")
    func set() throws {
        try withQueue { (_, queue) throws in
            #expect(try queue("put", "1", "--deliveries", "5", "--bound", "1").ending == .exited(0))
            #expect(try queue("put", "2", "--bound", "2").ending != .exited(0))
            #expect(try queue("set", "--deliveries", "1", "--bound", "2").ending == .exited(0))
            #expect(try queue("put", "2", "--deliveries", "5", "--bound", "1").ending == .exited(0))
            #expect(try queue("put", "3", "--bound", "3").ending == .exited(74))
            #expect(try queue("take", "--", "false").ending == .exited(1))
            #expect(try queue("count").output.contains(#""buried":1"#))
            #expect(try queue("set").ending == .exited(64))
        }
    }

    @Test("A queue's numbers and its pause are shown")
    func shown() throws {
        try withQueue { (runner, queue) throws in
            func expectShown(_ part: String) throws {
                let shown = try runner.space("show", "jobs", "--json").output
                #expect(shown.contains(part), "\(shown)")
            }
            #expect(try queue("put", "1", "--deliveries", "5", "--bound", "7").ending == .exited(0))
            try expectShown(#""deliveries":5,"bound":7,"paused":false}"#)
            #expect(try queue("pause").ending == .exited(0))
            try expectShown(#""paused":true}"#)
            #expect(try runner.space("show", "jobs").output.contains("1: 1 ready; paused"))
            #expect(try queue("pause", "1h").ending == .exited(0))
            try expectShown(#""paused":true,"paused_until":1"#)
            #expect(try queue("resume").ending == .exited(0))
            #expect(try queue("set", "--bound", "9").ending == .exited(0))
            try expectShown(#""deliveries":5,"bound":9,"paused":false}"#)
        }
    }

    @Test("A pause makes no queue: the program that makes it later gives it its own numbers")
    func pauseOfNone() throws {
        try withQueue { (runner, queue) throws in
            try runner.space("write", "jobs", "[1]", environment: owner)
            for words in [["pause"], ["pause", "1h"], ["pause", "--deliveries", "3"]] {
                let refused = try runner.start("space", ["queue", "jobs", "q"] + words, environment: owner).finish()
                #expect(
                    refused.ending == .exited(1) && refused.errors.contains(#"there is no queue "q""#),
                    "\(refused)"
                )
            }
            #expect(try queue("put", "1", "--deliveries", "3", "--bound", "7").ending == .exited(0))
            #expect(try queue("take", "--", "true").ending == .exited(0))
            #expect(try queue("pause").ending == .exited(0))
            #expect(try queue("pause", "--deliveries", "4").errors.contains("3 deliveries"))
        }
    }

    @Test("A queue is removed with its items, not under a worker unless that is asked for")
    func removeQueue() throws {
        try withQueue { (runner, queue) throws in
            for _ in 0..<2 { try runner.space("queue", "jobs", "q", "put", "1", "2", "3", environment: owner) }
            let taking = try worker(runner, "--", "/bin/sh", "-c", "echo on; exec sleep 1000")
            #expect(try taking.readLine() == "on")
            let refused = try queue("remove-queue")
            #expect(refused.ending == .exited(1) && refused.errors.contains("a worker has item"), "\(refused.errors)")
            #expect(refused.errors.contains("give --force"), "\(refused.errors)")
            #expect(try queue("remove-queue", "--bound", "7").ending == .exited(64))
            #expect(try queue("count").output.contains(#""ready":5"#))
            #expect(try queue("remove-queue", "--force").output == "6\n")
            #expect(try taking.finish().ending == .exited(75))
            #expect(try queue("remove-queue").ending == .exited(1))
            // A worker that waits gets what the next queue of the name has; that has its own numbers.
            try runner.space("queue", "jobs", "q", "put", "1", "--bound", "1", environment: owner)
            try runner.space("queue", "jobs", "q", "take", "--", "true", environment: owner)
            let waiting = try worker(runner, "--wait", "--", "cat")
            try runner.awaitWaiter("jobs")
            #expect(try queue("remove-queue").output == "0\n")
            #expect(try queue("put", "7", "--bound", "9").ending == .exited(0))
            #expect(try waiting.finish().output == "7\n")
        }
    }

    @Test("An item is held from command to command, for its owner only")
    func hold() throws {
        try withQueue { (runner, queue) throws in
            let script = """
                export SHARED_SPACE_OWNER=$$
                space queue jobs q put 1 2 3 > /dev/null
                one=$(space queue jobs q take --hold)
                two=$(space queue jobs q take --hold --value)
                echo "$two" | tail -n 1
                two=$(echo "$two" | head -n 1)
                three=$(space queue jobs q take --hold --ttr 1h)
                space queue jobs q count
                space queue jobs q complete $one --owner \(getpid()) 2>&-; echo $?
                space queue jobs q complete $one; echo $?
                space queue jobs q complete $one 2>&-; echo $?
                space queue jobs q bury $two; echo $?
                space queue jobs q extend $three 2h; echo $?
                space queue jobs q release $three; echo $?
                space queue jobs q count
                space queue jobs q take --hold > /dev/full; echo $?
                space queue jobs q take --hold > /dev/null
                space queue jobs q take --hold; echo $?
                """
            let result = try runner.shell("space own jobs --persistent -- true; \(script)")
            #expect(
                result.lines == [
                    "2", #"{"ready":0,"delayed":0,"taken":3,"blocked":0,"buried":0}"#, "75", "0", "75", "0", "0", "0",
                    #"{"ready":1,"delayed":0,"taken":0,"blocked":0,"buried":1}"#, "74", "1",
                ],
                "\(result.errors)"
            )
            // The shell has exited, and the item that it held is back. What was not printed is no delivery.
            let left = try queue("peek", "--state", "ready")
            #expect(left.output.contains(#""value":3"#) && left.output.contains(#""deliveries":2"#), "\(left.output)")
        }
    }
}
