import Glibc
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

/// `space join` becomes the program space-etcd; here that is a link to the tests' daemon.
@Suite(.blocking, .timeLimit(.minutes(5)))
struct BecomingTests {
    private let root: TemporaryRoot
    private let cluster: TestCluster
    /// A folder with a copy of `space` alone.
    private var folder: String { "\(root.path)/bin" }

    init() throws {
        root = try TemporaryRoot()
        cluster = try TestCluster(machines: 1)
        #expect(mkdir(folder, 0o700) == 0)
        let copied = try CommandRunner(root: root.path).start(
            "/bin/cp",
            [CommandRunner.path("space"), "\(folder)/space"]
        ).finish()
        #expect(copied.ending == .exited(0), "\(copied.errors)")
    }

    private func start(_ words: [String], path: String = "/none") throws -> RunningCommand {
        try CommandRunner(root: "\(root.path)/root").start("\(folder)/space", words, environment: ["PATH": path])
    }

    private func link(in place: String) throws {
        if place != folder { #expect(mkdir(place, 0o700) == 0) }
        #expect(symlink(CommandRunner.path("space-test-daemon"), "\(place)/space-etcd") == 0)
    }

    /// It is the same process, with the same arguments: who started it waits for it, and ends it, as for any daemon.
    @Test(arguments: ["bin", "elsewhere"])
    func theDaemonIsTheSameProcess(_ name: String) throws {
        let place = "\(root.path)/\(name)"
        try link(in: place)
        let daemon = try start(
            ["join", "--etcd", cluster.store, "--name", "m 9", "--lease=60s"],
            path: "/none:\(place)"
        )
        #expect(try daemon.readLine() == "joined m 9")
        let machines = try start(["machines"]).finish()
        #expect(machines.output.contains("PID \(daemon.pid)\n"), "\(machines.output)\(machines.errors)")
        let line = try FileBytes.read(at: AT_FDCWD, "/proc/\(daemon.pid)/cmdline", limit: 8192)
        #expect(line.split(separator: 0).last.map { String(decoding: $0, as: UTF8.self) } == "--lease=60s")
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
    }

    /// What the program was started with is what the daemon has: an ignored signal stays ignored.
    @Test func anIgnoredSignalStaysIgnored() throws {
        try link(in: folder)
        let script = "trap '' HUP; exec \(folder)/space join --etcd \(cluster.store) --name m9"
        let daemon = try CommandRunner(root: "\(root.path)/root").start("/bin/sh", ["-c", script])
        #expect(try daemon.readLine() == "joined m9")
        daemon.signal(SIGHUP)
        #expect(try start(["machines"]).finish().ending == .exited(0))
        daemon.signal(SIGINT)
        #expect(try daemon.wait() == .signalled(SIGINT))
    }

    @Test func aProgramThatIsNowhereIsNamed() throws {
        let result = try start(["join", "--etcd", "/store"]).finish()
        #expect(result.ending == .exited(69))
        #expect(result.errors.contains("there is no space-etcd beside this program or in PATH"), "\(result.errors)")
        #expect(result.errors.contains("tools/build --cluster"), "\(result.errors)")
    }

    /// A folder or a text of this name, which a shell must not run.
    @Test(arguments: ["Permission denied", "Exec format error"])
    func aProgramThatCannotBeRunIsNamed(_ cause: String) throws {
        let place = "\(folder)/space-etcd"
        if cause == "Permission denied" {
            #expect(mkdir(place, 0o700) == 0)
        } else {
            let written = try CommandRunner(root: root.path).shell("echo 'exit 0' > \(place) && chmod +x \(place)")
            #expect(written.ending == .exited(0))
        }
        let result = try start(["join", "--etcd", "/store"]).finish()
        #expect(result.ending == .exited(69))
        #expect(result.errors.contains("cannot run \(place): \(cause); build it again with:"), "\(result.errors)")
    }

    /// What can't be run beside this program does not hide a good one in PATH.
    @Test func aProgramInPathIsFoundBehindABadOne() throws {
        #expect(mkdir("\(folder)/space-etcd", 0o700) == 0)
        let place = "\(root.path)/elsewhere"
        try link(in: place)
        let daemon = try start(["join", "--etcd", cluster.store, "--name", "m9"], path: place)
        #expect(try daemon.readLine() == "joined m9")
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == .signalled(SIGTERM))
    }

    /// Wrong words are the same mistake without the program.
    @Test func wrongWordsAreToldFirst() throws {
        for words in [["join"], ["join", "--leave", "--etcd", "/s"], ["join", "--etcd", "/s", "--lease", "1s"]] {
            let result = try start(words).finish()
            #expect(result.ending == .exited(64), "\(words): \(result.errors)")
        }
        #expect(try start(["help", "join"]).finish().output.contains("--password-file"))
    }
}
