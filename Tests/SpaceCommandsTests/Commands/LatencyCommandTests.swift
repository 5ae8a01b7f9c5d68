import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// `space metrics --latency`: the switch, and the histograms.
@Suite("Latencies in the shell", .blocking, .timeLimit(.minutes(5)))
struct LatencyCommandTests {
    @Test("A switched namespace has histograms of the waits of all its processes, and another has none")
    func histograms() throws {
        try withRoot { (runner) throws in
            for name in ["n", "other"] { try runner.space("write", "--persistent", name, "[1]") }
            let switched = try runner.space("metrics", "n", "--latency", "on")
            #expect(switched.ending == .exited(0) && switched.output == "" && switched.errors == "")
            #expect(
                try runner.space("metrics").output.contains("\nshared_space_wait_seconds_count{namespace=\"n\"} 0\n")
            )
            for number in 0..<2 {
                let taker = try runner.start("space", ["take", "n", "[\"job\",\(number)]", "--wait"])
                #expect(try eventually { try runner.space("show", "n").output.contains("[\"job\",\(number)]") })
                try runner.space("write", "n", "[\"job\",\(number)]")
                #expect(try taker.finish().output == "[\"job\",\(number)]\n")
            }
            let metrics = try runner.space("metrics").output
            // A taker that looks, at a tick, between the commit and the grant is granted nothing.
            for (name, counts) in [("wait", 2...2), ("hand_off", 0...2)] {
                #expect(metrics.contains("# TYPE shared_space_\(name)_seconds histogram\n"))
                #expect(metrics.contains("# UNIT shared_space_\(name)_seconds seconds\n"))
                #expect(metrics.contains("\nshared_space_\(name)_seconds_bucket{namespace=\"n\",le=\"0.0000025\"} 0\n"))
                for end in ["bucket{namespace=\"n\",le=\"+Inf\"}", "count{namespace=\"n\"}"] {
                    #expect(counts.contains { metrics.contains("\nshared_space_\(name)_seconds_\(end) \($0)\n") })
                }
                #expect(metrics.contains("\nshared_space_\(name)_seconds_sum{namespace=\"n\"} "))
                #expect(!metrics.contains("shared_space_\(name)_seconds_count{namespace=\"other\"}"))
            }
            #expect(try runner.start("space-dump", ["--check", "n"]).finish().status == 0)
            // It goes with the namespace.
            for name in ["n", "other"] { #expect(try runner.space("delete", name).status == 0) }
        }
    }

    @Test("The check tells of a file that is damaged or gone, and a switch mends it")
    func damage() throws {
        try withRoot { (runner) throws in
            try runner.space("write", "--persistent", "n", "[1]")
            for harm in ["rm", "truncate -s 7", "cp control"] {
                try runner.space("metrics", "n", "--latency", "on")
                #expect(try runner.shell("cd \"$SHARED_SPACE_ROOT/n\" && \(harm) latency").status == 0)
                let check = try runner.start("space-dump", ["--check", "n"]).finish()
                #expect(check.status == 1 && (check.output + check.errors).contains("latency"), "\(check)")
                #expect(try runner.space("metrics").status == 0)
                // Another program's file is not removed.
                let off = try runner.space("metrics", "n", "--latency", "off")
                #expect(off.status == (harm == "rm" ? 0 : 74), "\(off.errors)")
                #expect(try runner.shell("rm -f \"$SHARED_SPACE_ROOT/n/latency\"").status == 0)
                #expect(try runner.start("space-dump", ["--check", "n"]).finish().status == 0)
            }
            try runner.space("delete", "n")
        }
    }

    @Test(
        "Bad uses are usage, and a missing namespace is 69",
        arguments: [["--latency", "on"], ["n", "--latency", "maybe"], ["n", "--http", "--latency", "on"]]
    )
    func usage(_ words: [String]) throws {
        try withRoot { (runner) throws in
            #expect(try runner.start("space", ["metrics"] + words).finish().status == 64)
            #expect(try runner.space("metrics", "nope", "--latency", "on").status == 69)
        }
    }
}
