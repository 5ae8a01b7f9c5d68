import SpaceTestSupport
import SpaceTesting
import Testing
import TupleCoding

/// How much of a tuple's time is left when a namespace is adopted where the time since boot differs: after a reboot,
/// and in another time namespace, which stands for a reboot here.
@Suite("clocks", .blocking, .timeLimit(.minutes(5)))
struct ClockCommandTests {
    /// The time at which the only tuple of a namespace expires, and the present, in seconds since 1970.
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
            // A clock set back by 1 s would be before the boot, so this case goes from the shifted clock to this one.
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
