import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

@Suite("Waiting", .blocking, .timeLimit(.minutes(5)))
struct WaitCommandTests {
    @Test("A missing namespace counts as one without tuples")
    func missingNamespace() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("take", "jobs", "[1]", "--wait", "0").ending == .exited(1))
            #expect(try runner.space("read", "jobs", "[1]", "--wait", "10ms").ending == .exited(1))
            #expect(try runner.space("get", "jobs", "k", "--wait", "10ms", "-E", "9").ending == .exited(9))
            #expect(try runner.space("list").output == "")
            let taker = try runner.start("space", ["take", "jobs", "--wait", "1m", "[1]"])
            let reader = try runner.start("space", ["get", "jobs", "k", "--wait"])
            try runner.space("set", "jobs", "k", "-5")
            #expect(try reader.finish().output == "-5\n")
            try runner.space("write", "jobs", "[1]")
            let taken = try taker.finish()
            #expect(taken.ending == .exited(0), "\(taken.errors)")
            #expect(taken.output == "[1]\n")
        }
    }

    @Test("A namespace that is deleted while a command waits is missing again")
    func deletedNamespace() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let taker = try runner.start("space", ["take", "jobs", "--wait", "[1]"])
            try runner.awaitWaiter("jobs")
            #expect(try runner.space("delete", "jobs").ending == .exited(0))
            try runner.space("write", "jobs", "[1]")
            #expect(try taker.finish().output == "[1]\n")
        }
    }

    @Test("--wait 0 tries once, and a time-out is status 1")
    func timePasses() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            for duration in ["0", "0ms", "20ms"] {
                #expect(try runner.space("take", "jobs", "[2]", "--wait", duration).ending == .exited(1))
                #expect(try runner.space("get", "jobs", "k", "--wait", duration).ending == .exited(1))
                #expect(try runner.space("read", "jobs", "--all", "[2]", "--wait", duration).ending == .exited(1))
            }
            #expect(try runner.space("take", "jobs", "[1]", "--wait", "0").output == "[1]\n")
        }
    }

    @Test("--all waits for the first tuple")
    func all() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[0]")
            let reader = try runner.start("space", ["read", "jobs", "--all", "--wait", #"["?","?"]"#])
            try runner.awaitWaiter("jobs")
            try runner.space("write", "jobs", "[1,1]", "[2,2]")
            #expect(try reader.finish().lines == ["[1,1]", "[2,2]"])
            let taker = try runner.start("space", ["take", "jobs", "--all", "--wait", #"["?","?","?"]"#])
            try runner.awaitWaiter("jobs")
            try runner.space("write", "jobs", "[1,1,1]", "[2,2,2]")
            #expect(try taker.finish().lines == ["[1,1,1]", "[2,2,2]"])
            #expect(try runner.space("count", "jobs").output == "3\n")
        }
    }

    @Test("wait NS waits until the namespace exists, or until it is gone")
    func existence() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("wait", "jobs", "--gone").ending == .exited(0))
            #expect(try runner.space("wait", "jobs", "0").ending == .exited(1))
            #expect(try runner.space("wait", "jobs", "10ms", "-E", "4").ending == .exited(4))
            #expect(try runner.space("wait", "jobs", "soon").ending == .exited(64))
            let waiting = try runner.start("space", ["wait", "jobs"])
            try runner.space("write", "jobs", "[1]")
            #expect(try waiting.wait() == .exited(0))
            #expect(try runner.space("wait", "jobs", "--gone", "10ms").ending == .exited(1))
            let gone = try runner.start("space", ["wait", "jobs", "--gone"])
            try runner.space("delete", "jobs")
            #expect(try gone.wait() == .exited(0))
        }
    }

    @Test("wait --gone notices that the last owner exited, though no process reaps")
    func ownerExits() throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("space", ["own", "jobs", "--", "/bin/cat"])
            #expect(try runner.space("wait", "jobs").ending == .exited(0))
            let gone = try runner.start("space", ["wait", "jobs", "--gone"])
            owner.closeInput()
            #expect(try owner.wait() == .exited(0))
            #expect(try gone.wait() == .exited(0))
        }
    }

    @Test("A signal ends waiting for a namespace too")
    func signal() throws {
        try withRoot { (runner) throws in
            for command in [["wait", "jobs"], ["take", "jobs", "[1]", "--wait"]] {
                let waiting = try runner.start("/bin/sh", ["-c", #"echo $$; exec space "$@""#, "sh"] + command)
                _ = try waiting.readLine()
                waiting.signal(15)
                #expect(try waiting.wait() == .signalled(15))
            }
        }
    }

    @Test("A killed waiter is not shown as waiting")
    func killedWaiter() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            for _ in 0..<3 {
                let waiting = try runner.start("space", ["take", "jobs", "[2]", "--wait"])
                try runner.awaitWaiter("jobs")
                waiting.signal(SIGKILL)
                try waiting.wait()
                #expect(try runner.space("show", "jobs", "--json").output.contains(#""waiters":[]"#))
            }
        }
    }
}
