import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("queue", .blocking, .timeLimit(.minutes(5)))
struct QueueCommandTests {
    private let owner = ["SHARED_SPACE_OWNER": "\(getpid())"]

    @Test("Items are put several at once and by key, looked at, and removed by number")
    func looking() throws {
        try withRoot { (runner) throws in
            func queue(_ words: String...) throws -> CommandResult {
                try runner.start("space", ["queue", "jobs", "q"] + words, environment: owner).finish()
            }
            let ids = try queue("put", "1", "2").output.split(separator: "\n").map(String.init)
            #expect(ids.count == 2)
            let key = try queue("put", "3", "--unique", "k", "--delay", "1h").output
            #expect(try queue("put", "4", "--unique", "k").output == key)
            #expect(try queue("peek", "--state", "ready", "--max", "1").output.contains(#""value":1}"#))
            #expect(try queue("peek").output.split(separator: "\n").count == 3)
            #expect(try queue("remove", ids[0]).ending == .exited(0))
            #expect(try queue("remove", ids[0]).ending == .exited(1))
            #expect(try queue("pause").ending == .exited(0))
            #expect(try queue("take", "--", "true").ending == .exited(1))
            #expect(try queue("resume").ending == .exited(0))
            #expect(try queue("drain").output == "2\n")
            #expect(try queue("pause", "x").ending == .exited(64))
        }
    }

    @Test("With a unique key an item is kept, replaced, or follows the one that is worked on")
    func unique() throws {
        try withRoot { (runner) throws in
            func queue(_ words: String...) throws -> CommandResult {
                try runner.start("space", ["queue", "jobs", "q"] + words, environment: owner).finish()
            }
            let id = try queue("put", "1", "--unique", "k").output.filter(\.isNumber)
            #expect(try queue("put", "2", "--unique", "k", "--json").output == #"{"id":\#(id),"new":false}"# + "\n")
            let replaced = try queue("put", "3", "--unique", "k", "--replace", "--json").output
            #expect(replaced == #"{"id":\#(id),"new":false,"replaced":true}"# + "\n")
            #expect(try queue("peek").output.contains(#""value":3}"#))
            // The command puts the newer state while it works on the older one.
            let space = CommandRunner.path("space")
            let script = "cat; exec \(space) queue --root \(runner.root) jobs q put 4 --unique k --again --json"
            let taken = try queue("take", "--", "/bin/sh", "-c", script)
            #expect(taken.output.contains(#""new":true}"#), "\(taken)")
            #expect(try queue("count").output.contains(#""ready":1"#))
            for wrong in [["--replace"], ["--unique", "k", "--replace", "--again"]] {
                #expect(
                    try runner.start("space", ["queue", "jobs", "q", "put", "5"] + wrong, environment: owner).finish()
                        .ending == .exited(64)
                )
            }
        }
    }

    @Test("A full queue refuses, and waits with --wait")
    func bound() throws {
        try withRoot { (runner) throws in
            func queue(_ words: String...) throws -> CommandResult {
                try runner.start("space", ["queue", "jobs", "q"] + words, environment: owner).finish()
            }
            #expect(try queue("put", "1", "--bound", "1").ending == .exited(0))
            let full = try queue("put", "2")
            #expect(full.ending == .exited(74) && full.errors.contains("bound"), "\(full.errors)")
            #expect(try queue("put", "2", "--wait", "10ms").ending == .exited(1))
        }
    }

    @Test("A command knows its item, and buries it with status 65")
    func facts() throws {
        try withRoot { (runner) throws in
            func queue(_ words: String...) throws -> CommandResult {
                try runner.start("space", ["queue", "jobs", "q"] + words, environment: owner).finish()
            }
            let id = try queue("put", "1").output.filter(\.isNumber)
            let script = "echo $SHARED_SPACE_NAMESPACE $SHARED_SPACE_ID $SHARED_SPACE_DELIVERIES; exit 65"
            let taken = try queue("take", id, "--", "/bin/sh", "-c", script)
            #expect(taken.ending == .exited(65))
            #expect(taken.output == "jobs \(id) 0\n")
            let dead = try queue("buried").output
            #expect(dead.contains(#""reason":"the command ended with status 65""#), "\(dead)")
            #expect(try queue("kick", id).ending == .exited(0))
            #expect(try queue("kick", id).ending == .exited(1))
            let dump = try runner.dump("jobs", "--check")
            #expect(dump.ending == .exited(0), "\(dump.output)")
        }
    }

    @Test("A command that outruns its time is ended, and the item returns")
    func timeToRun() throws {
        try withRoot { (runner) throws in
            try runner.space("queue", "jobs", "q", "put", "1", environment: owner)
            let taken = try runner.space("queue", "jobs", "q", "take", "--ttr", "100ms", "--", "sleep", "1000")
            #expect(taken.ending == .exited(75), "\(taken.errors)")
            let items = try runner.space("queue", "jobs", "q", "peek").output
            #expect(items.contains(#""state":"ready""#) && items.contains(#""deliveries":1"#), "\(items)")
        }
    }

    @Test("A poison item does not hold up the others")
    func poison() throws {
        try withRoot { (runner) throws in
            try runner.space("queue", "jobs", "q", "put", "1", "2", "3", environment: owner)
            let script = "read item; echo $item; test $item != 1"
            let worker = try runner.space(
                "queue",
                "jobs",
                "q",
                "take",
                "--forever",
                "--wait",
                "100ms",
                "--delay",
                "1h",
                "--",
                "/bin/sh",
                "-c",
                script
            )
            #expect(worker.ending == .exited(0), "\(worker.errors)")
            #expect(worker.output == "1\n2\n3\n")
            #expect(
                try runner.space("queue", "jobs", "q", "peek", "--state", "delayed").output.contains(#""value":1}"#)
            )

            // The same for a claim.
            try runner.space("write", "jobs", "[1]", "[2]", "[3]")
            let claimer = try runner.space(
                "claim",
                "jobs",
                #"["?"]"#,
                "--forever",
                "--wait",
                "100ms",
                "--retry-delay",
                "1h",
                "--",
                "/bin/sh",
                "-c",
                "read tuple; echo $tuple $SHARED_SPACE_DELIVERIES; test $tuple != '[1]'"
            )
            #expect(claimer.ending == .exited(0), "\(claimer.errors)")
            #expect(claimer.output == "[1] 0\n[2] 0\n[3] 0\n")
            #expect(try runner.space("count", "jobs").output == "0\n")
            #expect(try runner.space("claims", "jobs").output.contains(#""id":0,"pid":null"#))
            #expect(try runner.space("show", "jobs").output.contains(/0 +rests +in .*\[1\]/))
            let check = try runner.dump("jobs", "--check")
            #expect(check.ending == .exited(0), "\(check.output)")
        }
    }
}
