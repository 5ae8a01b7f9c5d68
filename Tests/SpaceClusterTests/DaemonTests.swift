import ClusterStoreTesting
import Glibc
import SharedSpace
import SpaceCluster
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import SystemPackage
import Testing

/// Daemons: what they say and refuse, how `space join` becomes one, and what they do when their files are gone.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct DaemonTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// What `join` and `machines` can't do, they say as sentences about themselves.
    @Test(arguments: [["join", "--etcd", "/nowhere", "--space", "x/y"], ["machines"]])
    func commandsNameWhatTheyCanNotDo(_ words: [String]) throws {
        let root = try TemporaryRoot()
        let result = try CommandRunner(root: root.path).start("space-test-daemon", words).finish()
        #expect(result.errors.hasPrefix("space: cannot \(words[0] == "join" ? "join the cluster" : "ask the daemon")"))
        #expect(!result.errors.contains("nothing was changed"), "\(result.errors)")
    }

    /// A daemon that does not reach the store says so, and why, each reason once, and goes on trying.
    @Test func aDaemonSaysWhyItHasNotJoined() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let words = ["join", "--etcd", store, "--name", "m0", "--lease", "2s"]
        let daemon = try CommandRunner(root: root.path).start("space-test-daemon", words)
        let line = try daemon.readErrorLine()
        #expect(line?.hasPrefix("space: m0 has not joined yet: ") == true, "\(line ?? "nothing")")
        #expect(line?.hasSuffix("; trying again; look with: space machines") == true, "\(line ?? "nothing")")
        // It tries again, and fails again, and does not repeat what it has said.
        let listener = try LocalSocket.listening(store)
        for _ in 0..<3 { #expect(try eventually { try LocalSocket.accept(listener.raw) != nil }) }
        _ = consume listener
        #expect(unlink(store) == 0)
        let server = try CommandRunner(root: root.path).start("space-test-store", [store])
        #expect(try daemon.readLine() == "joined m0")
        // Its lease ends with the store.
        server.signal(SIGKILL)
        while let line = try daemon.readErrorLine(), !line.hasPrefix("space: m0 is no member any more: ") {
            #expect(line.hasPrefix("space: m0 has not joined yet: "), "\(line)")
        }
        daemon.signal(SIGTERM)
        let lines = try daemon.finish().errors.split(separator: "\n")
        #expect(lines.count >= 2 && Set(lines).count == lines.count, "\(lines)")
    }

    /// What is wrong with the store is said once.
    @Test func aDaemonSaysWhatIsWrongWithTheStore() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let server = try CommandRunner(root: root.path).start("space-test-store", [store])
        #expect(try server.readLine() == "ready")
        try server.send("trouble the alarm NOSPACE\n")
        #expect(try server.readLine() == "done")
        let words = ["join", "--etcd", store, "--name", "m0", "--lease", "60s"]
        let daemon = try CommandRunner(root: root.path).start("space-test-daemon", words)
        #expect(try daemon.readLine() == "joined m0")
        #expect(try daemon.readErrorLine() == "space: m0: the alarm NOSPACE")
        try server.send("trouble the alarm CORRUPT\n")
        #expect(try server.readLine() == "done")
        #expect(try daemon.readErrorLine() == "space: m0: the alarm CORRUPT")
        #expect(try daemon.readErrorLine() == "space: m0: no more: the alarm NOSPACE")
        daemon.signal(SIGTERM)
        #expect(try daemon.finish().errors.split(separator: "\n").count == 3)
        server.signal(SIGKILL)
    }

    /// A daemon goes on if no process reads what it prints, and SIGTERM ends it.
    @Test func aFullPipeStopsNoDaemon() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let listener = try LocalSocket.listening(store)
        let daemon = try CommandRunner(root: root.path).start(
            "/bin/sh",
            ["-c", "head -c 65536 /dev/zero >&2; exec space-test-daemon join --etcd \(store) --name m0"]
        )
        for _ in 0..<3 { #expect(try eventually { try LocalSocket.accept(listener.raw) != nil }) }
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
    }

    /// A daemon that has lost its watch, and not its lease, has been a member all the time, and says nothing.
    @Test func aDaemonThatStaysAMemberSaysNothing() throws {
        try cluster.tell("leader no")
        try cluster.tell("leader yes")
        // Each daemon has found all namespaces again when it finds a new one.
        _ = try cluster.namespaces()
        for machine in cluster.machines {
            let daemon = try #require(machine.daemon)
            daemon.signal(SIGTERM)
            #expect(try daemon.finish().errors == "")
        }
    }

    /// A daemon whose root is gone ends, and makes no root anew.
    @Test func aDaemonMakesNoRoot() throws {
        let cluster = try TestCluster(machines: 1)
        for name in ["a", "b", "c"] { _ = try cluster.namespaceOfFirst(name) }
        let (root, daemon) = (cluster[0].root.path, try #require(cluster[0].daemon))
        try daemon.stop()
        #expect(rename(root, "\(root)-moved") == 0)
        daemon.signal(SIGCONT)
        #expect(try daemon.finish().ending == .exited(74))
        #expect(
            errorCode { _ = try system(root) { () throws(Errno) in try Directory.info(at: AT_FDCWD, root) } } != nil
        )
        #expect(rename("\(root)-moved", root) == 0)
        try cluster.start(0)
    }

    /// A daemon that can't work with its options ends with an error, and does not say that it tries again.
    @Test func aDaemonThatGivesUpReportsNothingElse() throws {
        let root = try TemporaryRoot()
        let words = ["join", "--etcd", "no-path", "--name", "m0"]
        let result = try CommandRunner(root: root.path).start("space-test-daemon", words).finish()
        #expect(result.ending == .exited(64))
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("cannot join the cluster: --etcd names"), "\(result.errors)")
    }

    @Test(arguments: [("", "p"), (tooLong, "p"), ("m", ""), ("m", tooLong), ("m", "p/")])
    func namesOfADaemonAreBounded(_ machine: String, _ prefix: String) throws {
        let root = try TemporaryRoot()
        let error = try refusal {
            _ = try ClusterDaemon(
                root: LocalReplicas(root.space),
                machine: machine,
                prefix: prefix,
                space: "s",
                store: MemoryStore()
            )
        }
        #expect(error.code == (machine == "m" ? .invalidName : .invalidArgument))
    }

    private static let tooLong = String(repeating: "m", count: 256)

    /// A daemon ends if its files are not where processes and other daemons look for them, and no other one serves the root
    /// before that.
    @Test(arguments: [".cluster", ".cluster/lock", ".cluster/socket"])
    func aDaemonEndsWithItsFiles(_ moved: String) throws {
        let cluster = try TestCluster(machines: 1)
        let namespace = try cluster.namespaceOfFirst()
        let root = cluster[0].root.path
        let daemon = try #require(cluster[0].daemon)
        try daemon.stop()
        #expect(rename("\(root)/\(moved)", "\(root)/moved") == 0)
        let other = try cluster[0].runner.start(
            "space-test-daemon",
            ["join", "--etcd", cluster.store, "--name", "other"]
        ).finish()
        #expect(other.ending == .exited(75), "\(other.errors)")
        daemon.signal(SIGCONT)
        let end = try daemon.finish()
        #expect(end.ending == .exited(74))
        #expect(end.errors.contains("cannot serve the root: the daemon's file \"\(root)/.cluster/"), "\(end.errors)")
        try cluster.start(0)
        try namespace.write("job", 1)
    }
}
