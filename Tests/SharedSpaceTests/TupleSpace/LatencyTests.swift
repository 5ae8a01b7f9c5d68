import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import TupleSpace

/// The measuring of how long waits last, within one process.
@Suite(.spaceTest, .timeLimit(.minutes(5)))
struct LatencyTests {
    /// Has a thread wait for a tuple, writes it when the thread has its slot described, and returns what it got.
    private func serve(_ namespace: Namespace, taking: Bool = true) async throws {
        async let found: Int? = onThread { () throws -> Int? in
            if taking { return try namespace.take("job", any(Int.self), timeout: watchdog)?.1 }
            return try namespace.read("job", any(Int.self), timeout: watchdog)?.1
        }
        #expect(try await eventually { try namespace.status().waiters.contains { !$0.template.isEmpty } })
        try namespace.write("job", 1)
        #expect(try await found == 1)
        if !taking { _ = try namespace.takeIfExists("job", any(Int.self)) }
    }

    @Test func theBucketOfADurationIsTheFirstWhoseBoundItDoesNotExceed() {
        let bounds = LatencyHistogram.bounds
        #expect(bounds.count == 28 && bounds == bounds.sorted())
        #expect(bounds.prefix(4) == [.microseconds(1), .nanoseconds(2500), .microseconds(5), .microseconds(10)])
        #expect(bounds.last == .seconds(1000))
        for (nanoseconds, bucket) in [(0, 0), (1000, 0), (1001, 1), (2500, 1), (1_000_000_000_000, 27)] {
            #expect(LatencyHistogram.bucket(of: UInt64(nanoseconds)) == bucket)
        }
        #expect(LatencyHistogram.bucket(of: 1_000_000_000_001) == 28)
        #expect(LatencyHistogram.bucket(of: .max) == 28)
        // The file has room for them.
        #expect(8 * (1 + 1 + bounds.count) <= 256)
    }

    @Test func aWaitIsCountedAndATakeAtOnceIsNot() async throws {
        let namespace = try SpaceTest.namespace()
        #expect(try namespace.status().latency == nil)
        try await serve(namespace)
        #expect(try namespace.status().latency == nil)

        try namespace.setMeasuringLatency(true)
        #expect(namespace.isMeasuringLatency)
        try namespace.write("at once", 1)
        _ = try await namespace.take("at once", any(Int.self), timeout: .seconds(1))
        #expect(try await namespace.take("at once", any(Int.self), timeout: .milliseconds(1)) == nil)
        #expect(try namespace.status().latency?.waiting.count == 0)

        try await serve(namespace)
        var latency = try #require(try namespace.status().latency)
        #expect(latency.waiting.count == 1 && latency.waiting.total > .zero)
        // A waiter that looks, at a tick, between the commit and the grant is granted nothing.
        var served = 1
        while latency.handOff.count == 0, served < 50 {
            try await serve(namespace)
            served += 1
            latency = try #require(try namespace.status().latency)
        }
        #expect(latency.handOff.count == 1 && latency.waiting.count == served)
        #expect(latency.waiting.total > latency.handOff.total && latency.handOff.total > .zero)
        // One that reads is granted nothing.
        try await serve(namespace, taking: false)
        latency = try #require(try namespace.status().latency)
        #expect(latency.waiting.count == served + 1 && latency.handOff.count == 1)
    }

    @Test func tasksAndClaimsAreMeasuredAsThreadsAre() async throws {
        let namespace = try SpaceTest.namespace()
        try namespace.setMeasuringLatency(true)
        async let taken = namespace.take("job", any(Int.self))
        #expect(try await eventually { try namespace.status().waiters.count == 1 })
        try namespace.write("job", 7)
        #expect(try await taken.1 == 7)
        #expect(try await eventually { try namespace.status().latency?.waiting.count == 1 })
    }

    @Test func anEndForgetsTheCountsAndASecondBeginningKeepsThem() async throws {
        let namespace = try SpaceTest.namespace()
        try namespace.setMeasuringLatency(true)
        try await serve(namespace)
        try namespace.setMeasuringLatency(true)
        #expect(try namespace.status().latency?.waiting.count == 1)
        try namespace.setMeasuringLatency(false)
        #expect(try !namespace.isMeasuringLatency && namespace.status().latency == nil)
        try await serve(namespace)
        try namespace.setMeasuringLatency(true)
        #expect(try namespace.status().latency?.waiting.count == 0)
        try await serve(namespace)
        #expect(try namespace.status().latency?.waiting.count == 1)
    }

    @Test(arguments: ["text", "link", "folder", "hard link"])
    func anotherProgramsFileIsRefusedAndKept(_ kind: String) async throws {
        let root = try SpaceTest.root()
        let namespace = try SpaceTest.namespace()
        let path = "\(root.path)/n/latency"
        switch kind {
        case "text":
            try root.overwrite("n/latency", Array("precious".utf8))
        case "link": #expect(symlink("/dev/null", path) == 0)
        case "folder": #expect(mkdir(path, 0o700) == 0)
        default: #expect(Glibc.link("\(root.path)/n/control", path) == 0)
        }
        for isOn in [true, false] {
            let error = #expect(throws: SpaceError.self) { try namespace.setMeasuringLatency(isOn) }
            #expect(error?.code == .damaged || error?.code == .permissionDenied, "\(String(describing: error))")
        }
        #expect(try !namespace.isMeasuringLatency && namespace.status().latency == nil)
        try await serve(namespace)
        if kind == "text" { #expect(try root.bytes(of: "n/latency") == Array("precious".utf8)) }
        #expect(kind == "folder" ? rmdir(path) == 0 : unlink(path) == 0)
        try namespace.setMeasuringLatency(true)
        #expect(try namespace.status().latency != nil)
    }

    /// A file with one bad byte, wherever it is, is switched off and on again, and goes with its namespace.
    @Test(arguments: [0, 3, 7, 8, 20, 63]) func oneBadByteIsNoObstacle(_ position: Int) throws {
        let root = try SpaceTest.root()
        let namespace = try root.space.namespace("bad")
        for step in 0..<2 {
            try namespace.setMeasuringLatency(true)
            let byte = try root.bytes(of: "bad/latency")[position] ^ 0x40
            try root.overwrite("bad/latency", [byte], at: position)
            if step == 0 { try namespace.setMeasuringLatency(false) }
        }
        try namespace.leave()
        #expect(try root.space.namespaceNames() == [])
    }

    @Test(arguments: ["truncated", "overwritten", "removed", "another's"])
    func waitsGoOnWithADamagedFile(_ kind: String) async throws {
        let root = try SpaceTest.root()
        let namespace = try SpaceTest.namespace()
        try namespace.setMeasuringLatency(true)
        let path = "\(root.path)/n/latency"
        switch kind {
        case "truncated": #expect(truncate(path, 100) == 0)
        case "overwritten":
            // This byte of the life's number is random; inverting it always changes it.
            try root.overwrite("n/latency", [try root.bytes(of: "n/latency")[20] ^ 0xff], at: 20)
        case "another's":
            let other = try SpaceTest.namespace(.fast, "other")
            try other.setMeasuringLatency(true)
            try root.overwrite("n/latency", try root.bytes(of: "other/latency"))
        default: #expect(unlink(path) == 0)
        }
        #expect(try namespace.isMeasuringLatency && namespace.status().latency == nil)
        try await serve(namespace)
        // A switch mends it.
        try namespace.setMeasuringLatency(true)
        try await serve(namespace)
        #expect(try namespace.status().latency?.waiting.count == 1)
    }

    @Test func theMeasuringOutlivesARestartOfTheMachine() async throws {
        let root = try TemporaryRoot()
        // Another process makes it, because this one may hold its locks for a while.
        let agent = try Agent(root, "n", "persistent=1")
        try agent.run("measure on")
        try agent.exit()
        try root.pretendReboot()
        let namespace = try root.space.namespace("n")
        #expect(try namespace.isMeasuringLatency && namespace.status().latency?.waiting.count == 0)
        try await serve(namespace)
        #expect(try namespace.status().latency?.waiting.count == 1)
        #expect(try namespace.verify() == [])
        try namespace.leave()
    }
}
