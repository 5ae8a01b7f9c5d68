import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// What a machine asks the store when nothing happens, and what it does when the store tells it nothing.
@Suite struct SpaceWatchTests {
    private let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// Namespaces cost the store no watch and no look of their own.
    @Test func namespacesAreWatchedAndLookedAtTogether() throws {
        _ = try cluster.namespaces("first")
        let watches = try cluster.ask("watches")
        for number in 0..<6 { _ = try cluster.namespaces("n\(number)") }
        #expect(try cluster.ask("watches") == watches)
        try cluster.tell("looks")
        #expect(try eventually { try cluster.ask("looked") >= 4 })
        #expect(try cluster.ask("alone") == 0)
    }

    /// The usual soft limit of descriptors is no bound of the daemon's namespaces.
    @Test func theDaemonRaisesItsLimitOfDescriptors() throws {
        let (script, program) = ("ulimit -Sn 256; exec \"$@\"", CommandRunner.path("space-test-daemon"))
        let root = try TemporaryRoot()
        let daemon = try CommandRunner(root: root.path).start(
            "/bin/sh",
            ["-c", script, "sh", program, "join", "--etcd", cluster.store, "--name", "m2"]
        )
        defer { daemon.signal(SIGKILL) }
        #expect(try daemon.readLine() == "joined m2")
        let bytes = try FileBytes.read(at: AT_FDCWD, "/proc/\(daemon.pid)/limits", limit: 8192)
        let limits = String(decoding: bytes, as: UTF8.self)
        let row = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max open files") })
        let words = row.split(separator: " ").compactMap { Int($0) }
        #expect(words.count == 2 && words[0] == min(words[1], 65_536) && words[0] > 256)
    }

    /// A watch that tells nothing, and does not end, is begun again, for all namespaces.
    @Test func aSilentWatchIsBegunAgain() throws {
        let (a, b) = (try cluster.namespaces("a"), try cluster.namespaces("b"))
        // The pen does not come while the watch is silent.
        for namespace in [a, b] { try namespace[0].write("pen") }
        try cluster.tell("silence")
        try a[0].write("job", 1)
        #expect(try a[1].take("job", any(Int.self), timeout: watchdog) != nil)
        try b[0].write("job", 2)
        #expect(try b[1].take("job", any(Int.self), timeout: watchdog) != nil)
        try cluster.expectSame(a)
        try cluster.expectSame(b)
    }
}
