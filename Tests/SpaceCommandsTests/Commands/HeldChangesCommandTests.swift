import SpaceTestSupport
import SpaceTesting
import Testing

/// Several locks at once, set permits, a leader's value, and what `watch` tells of all of them.
@Suite("Watching what is held and counted, from the shell", .blocking, .timeLimit(.minutes(5)))
struct HeldChangesCommandTests {
    @Test("watch tells holders, proclaimed values and counts")
    func watched() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            let watch = try runner.start(
                "space",
                ["watch", "jobs", "--max", "4", "--events", "hold,release,proclaim,count"]
            )
            #expect(try watch.readLine()?.contains("ready") == true)
            let proclaim = #"space elect jobs e --proclaim '{"port":80}' && space elect jobs e"#
            let leader = try runner.space("elect", "jobs", "e", "--as", "1", "--", "/bin/sh", "-c", proclaim)
            #expect(leader.output.contains(#""value":{"port":80}"#), "\(leader)")
            try runner.space("counter", "jobs", "n", "3")
            var lines: [String] = []
            while lines.count < 4, let line = try watch.readLine() { lines.append(line) }
            #expect(lines[0].contains(#""event":"hold","name":"e","new":{"#) && lines[0].contains(#""value":1"#))
            #expect(lines[1].contains(#""event":"proclaim","name":"e","old":{"#))
            #expect(lines[2].contains(#""event":"release","name":"e","old":{"#))
            #expect(lines[3].contains(#""event":"count","name":"n","new":3"#))
            #expect(try watch.wait() == .exited(0))
        }
    }

    @Test("A value is proclaimed by the leader's command alone, in its term")
    func proclaimedByTheLeader() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", "[1]")
            #expect(try runner.space("elect", "jobs", "e", "--proclaim", "1").ending == .exited(64))
            let late = "SHARED_SPACE_FENCING=1 space elect jobs e --proclaim 1"
            #expect(try runner.shell(late).ending == .exited(1))
            let bad = try runner.space("elect", "jobs", "e", "--", "space", "elect", "jobs", "e", "--proclaim", "{")
            #expect(bad.ending == .exited(65))
        }
    }

    @Test("lock --also holds several locks, and its command gets their numbers")
    func severalLocks() throws {
        try withRoot { (runner) throws in
            let script = "space show jobs --json | tr ',' '\\n' | grep -c '\"held\":true'; echo $SHARED_SPACE_FENCING"
            let both = try runner.space("lock", "jobs", "b", "--also", "a", "--", "/bin/sh", "-c", script)
            #expect(both.ending == .exited(0), "\(both)")
            #expect(both.lines.first == "2")
            #expect(both.lines.last?.split(separator: " ").count == 2)
            let held = #"space lock jobs a -- space lock jobs b --also a --wait 0 -E 9 -- echo never"#
            let none = try runner.shell(held)
            #expect(none.ending == .exited(9) && none.output == "", "\(none)")
            let twice = try runner.space("lock", "jobs", "a", "--also", "a", "--", "true")
            #expect(twice.ending == .exited(64) && twice.errors.contains("named twice"), "\(twice)")
            let long = String(repeating: "x", count: 300)
            #expect(try runner.space("lock", "jobs", "a", "--also", long, "--", "true").ending == .exited(65))
            #expect(try runner.space("lock", "jobs", long, "--also", "a", "--", "true").ending == .exited(65))
        }
    }

    @Test("semaphore --set counts for all, also in a dump")
    func permits() throws {
        try withRoot { (runner) throws in
            #expect(try runner.space("semaphore", "jobs", "s", "--permits", "1", "--", "true").ending == .exited(0))
            #expect(try runner.space("semaphore", "jobs", "s", "--set", "2").ending == .exited(0))
            let two = ["semaphore", "jobs", "s", "--permits", "1", "--count", "2", "--wait", "0", "--", "true"]
            #expect(try runner.start("space", two).wait() == .exited(0))
            let copied = try runner.shell("space-dump jobs --format json | space load copy && space-dump copy")
            #expect(copied.output.contains("2 permits"), "\(copied)")
            #expect(try runner.space("semaphore", "jobs", "s", "--unset").ending == .exited(0))
            #expect(try runner.space("semaphore", "jobs", "s", "--unset").ending == .exited(1))
            #expect(try runner.start("space", two).wait() == .exited(64))
            for bad in [
                ["--set", "0"], ["--set", "x"], ["--set", "2", "--unset"], ["--set", "2", "--permits", "1"], [],
            ] {
                let result = try runner.start("space", ["semaphore", "jobs", "s"] + bad).wait()
                #expect(result == .exited(64), "\(bad)")
            }
        }
    }
}
