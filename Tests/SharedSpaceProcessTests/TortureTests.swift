import Glibc
import SpaceTestSupport
import Testing

/// Short runs of the torture, and runs with a fault planted in the workers: an audit that finds nothing must be one that finds what
/// is there.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TortureTests {
    let root: TemporaryRoot

    init() throws {
        root = try TemporaryRoot()
        // `hostile` plays other users, who pass through.
        chmod(root.path, 0o711)
    }

    /// Seconds, in which the tests that run tasks need the threads.
    private func torture(_ arguments: String...) async throws -> CommandResult {
        let (runner, folder) = (CommandRunner(root: root.path), root.path)
        return try await onThread {
            try runner.start("space-torture", arguments + ["--folder", folder]).finish()
        }
    }

    /// Parts that attack as an outsider would; their scenes are many, so they run longer.
    private static let fromOutside = ["churn", "hostile", "surroundings", "damage"]

    @Test(
        arguments: [
            "kill", "handoff", "history", "stop", "exhaust", "reap", "disk", "recipes", "collections", "responders",
            "objects",
        ] + fromOutside
    )
    func nothingIsLostDoubledOrLate(_ part: String) async throws {
        let result = try await torture("--part", part, "--seconds", Self.fromOutside.contains(part) ? "20" : "2")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.lines.count == 1)
        #expect(result.output.hasSuffix("\"good\":true}\n"))
        #expect(root.entries() == [])
    }

    /// Parts that have something to find end when they have found it; `kill` looks when its time has passed.
    @Test(arguments: [
        ("kill", "lost", "lost", 3), ("kill", "doubled", "doubled", 3), ("handoff", "unheard", "lost", 90),
        ("history", "lost", "notLinearizable", 30), ("history", "doubled", "notLinearizable", 30),
        ("history", "stale", "notLinearizable", 30), ("reap", "vanished", "faults", 30),
        ("recipes", "doubled", "overlaps", 2), ("collections", "lost", "unmade", 30),
        ("collections", "lost", "lost", 30),
        ("collections", "unheard", "differing", 30), ("responders", "doubled", "doubled", 30),
        ("responders", "unheard", "late", 30), ("objects", "lost", "found", 30), ("churn", "lost", "lost", 30),
        ("surroundings", "lost", "faults", 2),
    ])
    func aPlantedFaultIsFound(_ part: String, _ fault: String, _ count: String, _ seconds: Int) async throws {
        try await expectFault(part, "--plant", fault, in: count, seconds)
    }

    /// Without a safeguard, the part that is green with it finds what it is there for.
    ///
    /// (Without `timeLimit` it finds a process that is silent for two minutes, which is too long for here.)
    @Test(arguments: [
        ("kill", "secondLook", "doubled", 3), ("kill", "deadClaims", "lost", 3), ("handoff", "handedOn", "lost", 30),
        ("history", "secondLook", "notLinearizable", 30), ("disk", "room", "faults", 30),
        ("exhaust", "deadReaders", "faults", 30), ("stop", "lockWord", "faults", 30),
        ("reap", "lookUnderDoor", "faults", 30), ("churn", "openOnce", "faults", 60),
        ("hostile", "ownFiles", "faults", 2),
        ("damage", "damagedPages", "faults", 30),
    ])
    func aSafeguardThatIsLeftOutIsMissed(_ part: String, _ safeguard: String, _ count: String, _ seconds: Int)
        async throws
    {
        try await expectFault(part, "--leave-out", safeguard, in: count, seconds)
    }

    private func expectFault(_ part: String, _ option: String, _ what: String, in count: String, _ seconds: Int)
        async throws
    {
        let result = try await torture("--part", part, option, what, "--seconds", "\(seconds)", "--patience", "1")
        #expect(result.status == 1, "\(result.output)\(result.errors)")
        #expect(!result.output.contains("\"\(count)\":0,") && !result.output.contains("\"\(count)\":[]"))
    }

    @Test(arguments: [
        "--part", "--part nothing", "--seconds 0", "--seconds many", "--processes 1", "--plant x", "--leave-out x",
        "--x y",
    ])
    func whatItDoesNotUnderstandIsUsage(_ arguments: String) throws {
        let runner = CommandRunner(root: root.path)
        let result = try runner.start("space-torture", arguments.split(separator: " ").map(String.init)).finish()
        #expect(result.status == 64)
        #expect(result.output.isEmpty && result.errors.hasPrefix("torture: "))
    }
}
