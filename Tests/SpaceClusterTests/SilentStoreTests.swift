import Glibc
import SharedSpace
import SpaceTestSupport
import SpaceTesting
import Testing

/// What is told while nothing answers: whether that is the store, which answers no daemon, or the daemon.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct SilentStoreTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// A wait for a lock that is over before the daemon has given up names the store, as one that lasts longer does.
    @Test func aWaitForALockNamesTheSilentStore() throws {
        _ = try cluster.namespaces()
        let machine = cluster[0]
        try machine.space("lock", "n", "l", "--", "true")
        try cluster.stopStore()
        // The first one is sent to the store; those after it wait for what has become of it.
        for time in ["500ms", "1s", "2s", "5s"] {
            let result = try machine.runner.space("lock", "n", "l", "--wait", time, "--", "true")
            #expect(result.ending == .exited(75), "\(time): \(result)")
            #expect(result.errors.contains("the store"), "\(time): \(result.errors)")
            #expect(!result.errors.contains("kill -CONT"), "\(time): \(result.errors)")
        }
        cluster.continueStore()
        #expect(try eventually { try machine.runner.space("lock", "n", "l", "--", "true").ending == .exited(0) })
    }

    /// A daemon that is stopped is told as before.
    @Test func aWaitForALockNamesTheStoppedDaemon() throws {
        _ = try cluster.namespaces()
        let daemon = try #require(cluster[0].daemon)
        try daemon.stop()
        let result = try cluster[0].runner.space("lock", "n", "l", "--wait", "1s", "--", "true")
        #expect(result.ending == .exited(75), "\(result)")
        #expect(
            result.errors.contains("is stopped") && result.errors.contains("kill -CONT \(daemon.pid)"),
            "\(result.errors)"
        )
        daemon.signal(SIGCONT)
    }

    /// A pen that another machine has can't be asked for: not that machine is named, but the store.
    @Test func aWaitForThePenNamesTheSilentStore() throws {
        let n = try cluster.namespaces()
        try n[1].write("here", 1)
        try cluster.stopStore()
        let result = try cluster[0].runner.space("set", "n", "k", "1")
        #expect(result.ending == .exited(75), "\(result)")
        #expect(result.errors.contains("the store"), "\(result.errors)")
        #expect(!result.errors.contains("did not hand over"), "\(result.errors)")
        cluster.continueStore()
    }
}
