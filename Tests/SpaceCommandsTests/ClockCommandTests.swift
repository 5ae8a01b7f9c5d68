import SpaceTestSupport
import Testing
import TupleCoding

/// What is left of a tuple's time when a namespace is adopted where the time since boot is another: after a reboot, and in
/// another time namespace, which stands for one here.
@Suite("clocks", .timeLimit(.minutes(5)))
struct ClockCommandTests {
    /// When the one tuple of a namespace expires, and the present, in seconds since 1970.
    private func expiry(_ runner: CommandRunner) throws -> (expires: Int, now: Int) {
        let dump = try runner.shell("space-dump jobs --format json | grep '\"kind\":\"tuple\"'; date +%s")
        guard dump.lines.count == 2, case .object(let tuple) = try Value(json: dump.lines[0]),
            case .int(let expires)? = tuple["expires"], let now = Int(dump.lines[1])
        else { throw TestFailure("no tuple that expires: \(dump.output) \(dump.errors)") }
        return (expires / 1000, now)
    }

    @Test(
        "An expiry counts on by the real time that has passed",
        arguments: ["", "--guarded", "--durable"],
        ["1000000", "-1"]
    )
    func adopted(_ mode: String, _ boottime: String) throws {
        try withRoot { (runner) throws in
            // -1 would be before the boot: the other way round, then, from the shifted time to ours.
            let shifted = "unshare --time --boottime 1000000 --fork --"
            let (first, second) = boottime == "-1" ? ("", shifted) : (shifted, "")
            let made = try runner.shell(
                "\(first) space write --persistent \(mode) --owner none jobs '[1]' --expires 1h; "
                    + "\(second) space count jobs '[1]'"
            )
            guard !made.errors.contains("unshare:") else { return }
            #expect(made.output == "1\n", "\(made.errors)")
            let (expires, now) = try expiry(runner)
            #expect((now...now + 3700).contains(expires), "\(expires - now)")
        }
    }
}
