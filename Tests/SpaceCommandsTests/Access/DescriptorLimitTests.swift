import Glibc
import SpaceTestSupport
import SpaceTesting
import Testing

/// Commands under a limit on open files (`ulimit -n`), which may end at any step.
@Suite("A limit on open files", .blocking, .timeLimit(.minutes(5)))
struct DescriptorLimitTests {
    /// The limits reach from too few descriptors for the program's own libraries to enough for all.
    @Test("A command that runs out of descriptors says so, and takes no process for dead", arguments: [false, true])
    func runningOut(_ exists: Bool) throws {
        try withRoot { (runner) throws in
            var (unloaded, refusals, successes) = (0, 0, 0)
            for limit in 3...32 {
                if exists {
                    let made = try runner.shell("exec space write jobs --persistent '[0]'")
                    #expect(made.ending == .exited(0), "\(made.errors)")
                }
                let result = try runner.shell("ulimit -n \(limit); space write jobs '[1]'; exit $?")
                switch result.ending {
                case .exited(0): successes += 1
                case .exited(127):
                    unloaded += 1
                    #expect(result.errors.contains("shared libraries"), "\(result.errors)")
                default:
                    refusals += 1
                    #expect(result.ending == .exited(74), "limit \(limit): \(result.ending) \(result.errors)")
                    #expect(result.errors.contains("ulimit -n"), "limit \(limit): \(result.errors)")
                }
                _ = try runner.shell("space delete jobs; true")
            }
            #expect(unloaded > 0)
            #expect(refusals > 0)
            #expect(successes > 0)
        }
    }

    /// A reaper holds a descriptor for each owner, and needs some to look at the namespace of one that has ended.
    @Test("A reaper of more owners than it may have descriptors deletes all the same", arguments: [24, 40])
    func reaping(_ limit: Int) throws {
        try withRoot { (runner) throws in
            let names = (0..<limit).map { "n\($0)" }
            let owners = try names.map { try runner.start("space", ["own", $0, "--", "/bin/cat"]) }
            for name in names { #expect(try runner.space("wait", name).ending == .exited(0)) }
            let reaper = try runner.start("/bin/sh", ["-c", "ulimit -n \(limit); exec space reap --follow"])
            // Its first name shows that it follows.
            owners[0].signal(SIGKILL)
            #expect(try reaper.readLine() == names[0])
            for owner in owners.dropFirst() { owner.signal(SIGKILL) }
            var deleted: Set<String> = []
            for _ in names.dropFirst() { deleted.insert(try #require(try reaper.readLine())) }
            #expect(deleted == Set(names.dropFirst()))
            for owner in owners { try owner.wait() }
            reaper.signal(SIGTERM)
            _ = try reaper.finish()
        }
    }

    /// It deletes, or says why not, and a signal ends it.
    @Test("A reaper with few descriptors is neither silent nor deaf", arguments: [6, 8, 10, 12, 14, 16, 20])
    func fewDescriptors(_ limit: Int) throws {
        try withRoot { (runner) throws in
            let owner = try runner.start("/bin/cat", [])
            try runner.space("write", "n", "[1]", environment: ["SHARED_SPACE_OWNER": "\(owner.pid)"])
            owner.signal(SIGKILL)
            try owner.wait()
            let script = """
                (ulimit -n \(limit); exec space reap --follow) >"$SHARED_SPACE_ROOT.out" 2>"$SHARED_SPACE_ROOT.err" &
                pid=$!
                until [ -s "$SHARED_SPACE_ROOT.out" ] || [ -s "$SHARED_SPACE_ROOT.err" ] || ! kill -0 $pid; do sleep 0.1; done
                kill $pid
                wait $pid
                status=$?
                cat "$SHARED_SPACE_ROOT.out" "$SHARED_SPACE_ROOT.err"
                rm "$SHARED_SPACE_ROOT.out" "$SHARED_SPACE_ROOT.err"
                exit $status
                """
            let result = try runner.shell(script)
            if result.ending == .exited(127) {
                #expect(result.output.contains("shared libraries"), "\(result.output)")
            } else if result.output != "n\n" {
                #expect(result.output.contains("ulimit -n"), "\(result.output)")
                #expect([.exited(128 + SIGTERM), .exited(74)].contains(result.ending), "\(result.ending)")
            } else {
                #expect(result.ending == .exited(128 + SIGTERM))
            }
        }
    }
}
