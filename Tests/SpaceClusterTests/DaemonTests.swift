import Glibc
import SharedSpace
import SpaceCluster
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import SystemPackage
import Testing

/// Daemons: what they say and refuse, what connects them with the store, and what they do when their files are gone.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct DaemonTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// What `join` and `machines` can't do, they say as sentences about themselves.
    @Test(arguments: [["join", "--store", "/nowhere", "--space", "x/y"], ["machines"]])
    func commandsNameWhatTheyCanNotDo(_ words: [String]) throws {
        let root = try TemporaryRoot()
        let result = try CommandRunner(root: root.path).start("space", words).finish()
        #expect(result.errors.hasPrefix("space: cannot \(words[0] == "join" ? "join the cluster" : "ask the daemon")"))
        #expect(!result.errors.contains("nothing was changed"), "\(result.errors)")
    }

    /// A daemon that does not reach the store says so, and why, each reason once, and goes on trying.
    @Test func aDaemonSaysWhyItHasNotJoined() throws {
        let root = try TemporaryRoot()
        let store = "\(root.path)/store"
        let words = ["join", "--store", store, "--name", "m0", "--lease", "2s"]
        let daemon = try CommandRunner(root: root.path).start("space", words)
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
        let words = ["join", "--store", store, "--name", "m0", "--lease", "60s"]
        let daemon = try CommandRunner(root: root.path).start("space", words)
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
            ["-c", "head -c 65536 /dev/zero >&2; exec space join --store \(store) --name m0"]
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

    /// A daemon that ends takes the program that connects it along, also one that is stopped.
    @Test func aStoppedConnectorEndsWithItsDaemon() throws {
        let root = try TemporaryRoot()
        let daemon = try Self.daemon(
            in: root,
            connectedBy: "echo $$ > \(root.path)/pid; exec space-test-store relay \(cluster.store)"
        )
        #expect(try daemon.readLine() == "joined m9")
        let line = String(decoding: try bytes(ofFile: "\(root.path)/pid").dropLast(), as: UTF8.self)
        let pid = try #require(pid_t(line))
        #expect(kill(pid, SIGSTOP) == 0)
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
        #expect(kill(pid, 0) == -1 && errno == ESRCH)
    }

    /// The same, if the program that connects it says so, and not the daemon itself.
    @Test func aConnectorThatGivesUpIsNotTriedAgain() throws {
        let root = try TemporaryRoot()
        let daemon = try Self.daemon(in: root, connectedBy: "echo 'no file' >&2; exit 66")
        let result = try daemon.finish()
        #expect(result.ending == .exited(64))
        let lines = result.errors.split(separator: "\n")
        #expect(lines.count == 1 && lines[0].contains("join the cluster: no file"), "\(result.errors)")
    }

    /// A daemon that has joined goes on when the program that connects it can't.
    ///
    /// Each call that fails says why, and the program is started again. Its member is the same after that.
    @Test func aConnectorThatGivesUpLaterIsStartedAgain() throws {
        let root = try TemporaryRoot()
        let daemon = try Self.daemon(
            in: root,
            connectedBy: """
                [ ! -e \(root.path)/broken ] || { echo 'no certificate' >&2; exit 66; }
                exec space-test-store relay \(cluster.store)
                """
        )
        #expect(try daemon.readLine() == "joined m9")
        let n = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true, isReplicated: true))
        try n.write("job", 1)
        guard let claim = try n.claimIfExists(matching: ["job", 1]) else { throw TestFailure("no tuple") }
        let (program, broken) = ("\(root.path)/space-etcd", "\(root.path)/broken")
        try Self.makeProgram("", at: broken)
        try cluster.tell("cut")
        #expect(try eventually { Self.failsToWrite(to: n, because: "no certificate") })
        // Nor can it be found for a while.
        #expect(rename(program, broken) == 0)
        #expect(try eventually { Self.failsToWrite(to: n, because: "space-etcd can't be started: No such file") })
        #expect(rename(broken, program) == 0)
        #expect(try eventually { errorCode { try n.write("late", 1) } == nil })
        try claim.complete()
        daemon.signal(SIGTERM)
        #expect(try daemon.finish().errors == "")
    }

    /// Starts a daemon that a program connects; the program is a script of the shell.
    private static func daemon(in root: TemporaryRoot, connectedBy script: String) throws -> RunningCommand {
        try makeProgram("#!/bin/sh\n\(script)\n", at: "\(root.path)/space-etcd")
        let command = "PATH=\(root.path):$PATH exec space join --etcd http://127.0.0.1:1 --name m9 --lease 60s"
        return try CommandRunner(root: root.path).start("/bin/sh", ["-c", command])
    }

    private static func failsToWrite(to namespace: Namespace, because reason: String) -> Bool {
        do {
            try namespace.write("late", 0)
            return false
        } catch {
            return "\(error)".contains(reason)
        }
    }

    private static func makeProgram(_ text: String, at path: String) throws {
        let file = try FileDescriptor.open(
            FilePath(path),
            .writeOnly,
            options: .create,
            permissions: .ownerReadWriteExecute
        )
        _ = try file.closeAfter { try file.writeAll(text.utf8) }
    }

    /// A daemon that can't work with its arguments ends with an error, and does not say that it tries again.
    @Test func aDaemonThatGivesUpReportsNothingElse() async throws {
        let root = try TemporaryRoot()
        let daemon = try ClusterDaemon(root: LocalReplicas(root.space), machine: "m0", prefix: "p", space: "s") {
            throw SpaceError(.invalidArgument, reason: "these arguments can't work")
        }
        let reports = Mutex<[DaemonNews]>([])
        await #expect(throws: SpaceError.self) {
            try await daemon.run { report in reports.withLock { $0.append(report) } }
        }
        #expect(reports.withLock { $0 } == [])
    }

    @Test(arguments: [("", "p"), (tooLong, "p"), ("m", ""), ("m", tooLong), ("m", "p/")])
    func namesOfADaemonAreBounded(_ machine: String, _ prefix: String) throws {
        let root = try TemporaryRoot()
        let error = try refusal {
            _ = try ClusterDaemon(root: LocalReplicas(root.space), machine: machine, prefix: prefix, space: "s") {
                throw CancellationError()
            }
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
        let other = try cluster[0].runner.start("space", ["join", "--store", cluster.store, "--name", "other"]).finish()
        #expect(other.ending == .exited(75), "\(other.errors)")
        daemon.signal(SIGCONT)
        let end = try daemon.finish()
        #expect(end.ending == .exited(74))
        #expect(end.errors.contains("cannot serve the root: the daemon's file \"\(root)/.cluster/"), "\(end.errors)")
        try cluster.start(0)
        try namespace.write("job", 1)
    }
}
