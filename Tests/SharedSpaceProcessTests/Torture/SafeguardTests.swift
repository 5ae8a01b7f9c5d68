import SpaceTesting
import Testing

/// Runs of the torture without one of the safeguards that the product has.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct SafeguardTests {
    private let torture: TortureRun

    init() throws { torture = try TortureRun() }

    /// If a safeguard is left out, the part that passes with it finds the fault that it is there for.
    ///
    /// If one scene of a part alone can find it, only that scene is played: the others would cost it the time in which
    /// it meets the moment. `churn` meets its moment after 1 to 30 seconds on an idle machine, and under load at times only
    /// after more than a minute. (Without `timeLimit` `handoff` finds a process that is silent for two minutes, which is too
    /// long for here.)
    @Test(arguments: [
        ("kill", "secondLook", "doubled", 60), ("near", "secondLook", "doubled", 60),
        ("kill", "deadClaims", "lost", 60),
        ("handoff", "handedOn", "lost", 30),
        ("history", "secondLook", "notLinearizable", 30), ("disk", "room", "faults", 30),
        ("exhaust --scene killedReaders", "deadReaders", "faults", 30),
        ("stop --scene gate", "lockWord", "faults", 60),
        ("reap --scene enrolledAtTheDoor", "lookUnderDoor", "faults", 60), ("churn", "openOnce", "faults", 180),
        ("hostile", "ownFiles", "faults", 2),
        ("damage --scene walked", "damagedPages", "faults", 30),
    ])
    func aSafeguardThatIsLeftOutIsMissed(_ part: String, _ safeguard: String, _ counts: String, _ seconds: Int)
        async throws
    {
        try await torture.expectFault(part, "--leave-out", safeguard, in: counts, seconds)
    }
}
