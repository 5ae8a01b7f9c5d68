import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// A command that has lost what it works on, and does not end by SIGTERM.
@Suite("A command that ignores TERM", .blocking, .timeLimit(.minutes(5)))
struct StubbornCommandTests {
    /// It tells of SIGTERM and goes on; a `sleep` that SIGTERM reaches too is followed by the next.
    private static let script = "trap 'echo term' TERM; echo on; while :; do sleep 1000 & wait $!; done"

    /// A way to take from a command what it works on.
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case cancelled, timeToRun, deadline
        var testDescription: String { rawValue }
    }

    @Test("It is killed after its grace, and what it worked on is not its any more", arguments: Way.allCases)
    func killed(_ way: Way) throws {
        try withRoot { (runner) throws in
            let words =
                switch way {
                case .cancelled: ["queue", "jobs", "q", "take"]
                case .timeToRun: ["queue", "jobs", "q", "take", "--ttr", "1s"]
                case .deadline: ["claim", "jobs", "[1]", "--deadline", "1s"]
                }
            try runner.space("write", "jobs", "[1]")
            let id = try runner.space("queue", "jobs", "q", "put", "1").lines[0]
            let command = try runner.start("space", words + ["--", "/bin/sh", "-c", Self.script])
            #expect(try command.readLine() == "on")
            if way == .cancelled { #expect(try runner.space("queue", "jobs", "q", "cancel", id).ending == .exited(0)) }
            #expect(try command.readLine() == "term")
            // Only SIGKILL ends it.
            let ended = try command.finish()
            #expect(ended.ending == .exited(75) && ended.output == "on\nterm\n", "\(ended.output)\(ended.errors)")
            #expect(try runner.tuples("jobs") == ["[1]"])
            let counts = try runner.space("queue", "jobs", "q", "count").output
            #expect(counts.contains(way == .cancelled ? #"{"ready":0,"# : #"{"ready":1,"#), "\(counts)")
        }
    }
}
