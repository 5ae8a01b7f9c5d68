import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// Commands under a limit on the size of files (`ulimit -f`): beyond it the kernel ends a process, unless it ignores
/// SIGXFSZ.
@Suite("A limit on the size of files", .blocking, .timeLimit(.minutes(5)))
struct FileSizeLimitTests {
    private func leftovers(_ runner: CommandRunner) throws -> String {
        try runner.shell(#"cd "$SHARED_SPACE_ROOT" && find .nursery .graveyard -mindepth 1 2> /dev/null; true"#).output
    }

    /// The numbers count blocks of 512 or 1,024 bytes; the smallest file of a namespace needs 64 bytes, the control file half a MiB.
    @Test(
        "Nothing is created, and nothing left behind",
        arguments: [0, 1, 16, 1024, 6000],
        ["", "--guarded", "--durable"]
    )
    func creation(_ limit: Int, _ mode: String) throws {
        try withRoot { (runner) throws in
            let result = try runner.shell("ulimit -f \(limit); exec space write jobs \(mode) '[1]'")
            #expect(result.ending == .exited(74), "\(result.errors)")
            #expect(result.errors.contains("ulimit -f unlimited"), "\(result.errors)")
            #expect(try leftovers(runner) == "")
            #expect(try runner.space("list").output == "")
        }
    }

    @Test("A namespace that exists is refused, and can be deleted", arguments: [0, 1, 1024], ["", "--guarded"])
    func existing(_ limit: Int, _ mode: String) throws {
        try withRoot { (runner) throws in
            let made = try runner.shell("exec space write jobs --persistent \(mode) '[1]'")
            #expect(made.ending == .exited(0))
            for command in [
                "show jobs", "take jobs '\"?\"'", "write jobs '[2]'", "watch jobs --wait 0", "own jobs -- true",
            ] {
                let result = try runner.shell("ulimit -f \(limit); exec space \(command)")
                #expect(result.ending == .exited(74), "\(command): \(result.ending) \(result.errors)")
                #expect(result.errors.contains("ulimit -f unlimited"), "\(command): \(result.errors)")
            }
            #expect(try runner.tuples("jobs") == ["[1]"])
            let deleted = try runner.shell("ulimit -f \(limit); exec space delete jobs")
            #expect(deleted.ending == .exited(0), "\(deleted.errors)")
            #expect(try leftovers(runner) == "")
        }
    }

    /// proc(5), SigIgn: a hexadecimal mask, in which a signal's bit is its number less one.
    private func ignored(_ status: String) throws -> [CInt] {
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") })
        let mask = try #require(UInt64(line.dropFirst("SigIgn:\t".count), radix: 16))
        return [SIGPIPE, SIGXFSZ].filter { mask >> UInt64($0 - 1) & 1 == 1 }
    }

    private static let runners = ["own jobs --", "lock jobs l --", "claim jobs '[\"job\"]' --"]

    @Test("A command that is run gets the caller's dispositions of SIGXFSZ and SIGPIPE", arguments: runners)
    func ofCommands(_ words: String) throws {
        try withRoot { (runner) throws in
            try runner.space("write", "jobs", #"["job"]"#)
            let usual = try runner.shell("exec space \(words) cat /proc/self/status")
            #expect(try ignored(usual.output) == [], "\(usual.errors)")
            try runner.space("write", "jobs", #"["job"]"#)
            let other = try runner.shell("trap '' PIPE XFSZ; exec space \(words) cat /proc/self/status")
            #expect(try ignored(other.output) == [SIGPIPE, SIGXFSZ], "\(other.errors)")
        }
    }
}
