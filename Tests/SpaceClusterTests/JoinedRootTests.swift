import Glibc
import SharedSpace
import SpaceEngine
import SpaceMachines
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import SystemPackage
import Testing

/// Roots that have joined: a namespace of this machine alone is not made there by mistake, and one that was is told of.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct JoinedRootTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// The error of a namespace that can't be made because no daemon runs names the daemon's start.
    private func expectRefusal(_ result: CommandResult, _ reason: String, _ advice: String) {
        #expect(result.ending == .exited(75), "\(result)")
        #expect(result.errors.contains("which may share a namespace of this name, and \(reason)"), "\(result.errors)")
        #expect(result.errors.contains(advice), "\(result.errors)")
    }

    /// While a root's daemon is away, however it ended, each command that would make a namespace fails; when the daemon is
    /// back, the same command finds the machines' namespace.
    @Test(arguments: [SIGTERM, SIGKILL])
    func noNamespaceIsMadeWithoutTheDaemon(_ signal: CInt) throws {
        let machine = cluster[1]
        try cluster.end(1, by: signal)
        try cluster[0].space("write", "jobs", "--replicated", "--persistent", "[\"job\", 1]")
        let commands = [
            ["write", "jobs", "[1]"], ["set", "jobs", "k", "1"], ["incr", "jobs", "k"], ["own", "jobs"],
            ["lock", "jobs", "l", "--", "true"], ["queue", "jobs", "q", "put", "1"], ["load", "jobs"],
            ["respond", "jobs", "f", "--", "true"], ["write", "jobs", "--persistent", "--durable", "[1]"],
        ]
        let dump = try cluster[0].runner.dump("jobs", "--format", "json").output
        for words in commands {
            let command = try machine.runner.start("space", words, environment: ["SHARED_SPACE_OWNER": "\(getpid())"])
            let result = try command.finish(input: words[0] == "load" ? dump : "")
            expectRefusal(result, "no daemon runs", "space --root \(machine.root.path) join --etcd URL")
        }
        #expect(errorCode { _ = try machine.root.space.namespace("jobs") } == .clusterUnavailable)
        #expect(errorCode { _ = try machine.root.space["jobs"].write("job", 2) } == .clusterUnavailable)
        #expect(machine.root.entries(of: "jobs") == [])
        try cluster.start(1)
        try machine.space("write", "jobs", "[\"job\", 2]")
        let n = try cluster.machines.map { try TestCluster.open("jobs", in: $0) }
        try cluster.expectSame(n)
        #expect(try n[0].count() == 2)
    }

    /// A daemon that is stopped, and one that has not reached the store, give no word of a name.
    @Test func aSilentDaemonGivesNoWord() throws {
        let machine = cluster[1]
        let daemon = try #require(machine.daemon)
        let words = ["write", "own", "--persistent", "[1]"]
        try daemon.stop()
        expectRefusal(
            try machine.runner.start("space", words + ["--timeout", "0s"]).finish(),
            "the daemon of the root \"\(machine.root.path)\" (process \(daemon.pid)) is stopped",
            "kill -CONT \(daemon.pid)"
        )
        // Connections that it does not accept add up, also those of processes that have given up. Who comes when there is
        // no room for more does not wait for the daemon to go on.
        let error = #expect(throws: Errno.self) {
            for _ in 0..<2000 {
                _ = try DaemonSocket.connect(
                    SpaceRoot(path: machine.root.path),
                    until: .now.advanced(by: .milliseconds(1))
                )
            }
        }
        #expect(error == .timedOut)
        expectRefusal(
            try machine.runner.start("space", words + ["--timeout", "0s"]).finish(),
            "the daemon of the root \"\(machine.root.path)\" is stopped or busy, and does not answer in time",
            "machines"
        )
        daemon.signal(SIGCONT)
        try machine.space(words)
        try cluster.end(1)
        try cluster.stopStore()
        let next = try machine.runner.start("space-test-daemon", ["join", "--etcd", cluster.store, "--name", "m1"])
        #expect(try eventually { machine.root.entries(of: ".cluster").contains("socket") })
        let late = ["write", "late", "--persistent", "[1]"]
        expectRefusal(
            try machine.runner.start("space", late + ["--timeout", "0s"]).finish(),
            "the daemon has not reached the cluster yet",
            "machines"
        )
        // One that has time waits for the daemon's word.
        let waiting = try machine.runner.start("space", late + ["--timeout", "10m"])
        cluster.continueStore()
        #expect(try next.readLine() == "joined m1")
        #expect(try waiting.finish().ending == .exited(0))
        next.signal(SIGTERM)
        try next.wait()
    }

    /// A root that has not joined asks no daemon, also if one tries to join there for the first time.
    @Test func aRootThatHasNotJoinedMakesItsOwn() throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        #expect(try runner.space("write", "a", "--persistent", "[1]").ending == .exited(0))
        let daemon = try runner.start("space-test-daemon", ["join", "--etcd", "\(root.path)/none", "--name", "m2"])
        #expect(try daemon.readErrorLine()?.contains("has not joined yet") == true)
        #expect(try runner.space("write", "b", "--persistent", "[1]").ending == .exited(0))
        #expect(!root.entries().contains(JoinedSpace.file))
    }

    /// If a namespace of this machine alone has the name of one that the machines share, all that tell of it say so.
    ///
    /// The daemon says it in its log, and `space machines` and `space show` do, until the one of this machine is deleted.
    @Test func aNamespaceBesideTheMachinesOneIsTold() throws {
        let machine = cluster[1]
        try cluster.end(1)
        try cluster[0].space("write", "jobs", "--replicated", "--persistent", "[\"job\", 1]")
        try machine.space("write", "jobs", "--local", "--persistent", "[\"own\", 1]")
        let own = try machine.root.space.namespace("jobs", options: NamespaceOptions(isLocal: true))
        // One that exists is opened by all, with the option and without it.
        try machine.space("write", "jobs", "[\"own\", 2]")
        #expect(!(try machine.space("show", "jobs").output.contains("not shared")))
        try cluster.start(1)
        let told = "not shared: the machines share another namespace of this name"
        #expect(try eventually { try machine.machines().contains("jobs: \(told)") })
        #expect(try machine.space("show", "jobs").output.contains(told))
        #expect(try machine.space("show", "jobs", "--json").output.contains(#""not_shared":true"#))
        let daemon = try #require(machine.daemon)
        #expect(try daemon.readErrorLine() == "space: m1: jobs: \(told)")
        #expect(try own.count() == 2 && !own.isReplicated)
        try own.leave()
        try machine.space("delete", "jobs")
        #expect(try daemon.readErrorLine() == "space: m1: no more: jobs: \(told)")
        let n = try cluster.machines.map { try TestCluster.open("jobs", in: $0) }
        try cluster.expectSame(n)
        #expect(!(try machine.space("show", "jobs").output.contains("not shared")))
        // A caller that insists on one of this machine is not given the machines' one.
        let refused = try machine.runner.space("write", "jobs", "--local", "[1]")
        #expect(refused.ending == .exited(69) && refused.errors.contains("several machines share it"), "\(refused)")
        #expect(errorCode { _ = try n[1].isolated(in: machine) } == .incompatible)
        let both = NamespaceOptions(isReplicated: true, isLocal: true)
        #expect(errorCode { _ = try machine.root.space.namespace("x", options: both) } == .invalidArgument)
        #expect(try machine.runner.space("write", "x", "--local", "--replicated", "[1]").ending == .exited(64))
    }

    /// A namespace that a killed process has left without an owner does not keep the replica away.
    @Test func aNamespaceWithoutAnOwnerIsNotInTheWay() throws {
        let owner = try Agent(cluster[1].root, "jobs")
        try owner.run("write [\"own\", 1]")
        try cluster[0].space("write", "jobs", "--replicated", "--persistent", "[\"job\", 1]")
        let told = "jobs: not shared"
        #expect(try eventually { try cluster[1].machines().contains(told) })
        try owner.kill()
        let isThere = try eventually { try !cluster[1].machines().contains(told) }
        #expect(isThere)
        try cluster.expectSame(try cluster.machines.map { try TestCluster.open("jobs", in: $0) })
    }

    /// Another user of the root can't ask the daemon, and so makes nothing by mistake either.
    @Test(.enabled(if: geteuid() == 0, "only root can become others"))
    func anotherUserMakesNothingByMistake() throws {
        let root = cluster[1].root
        #expect(chmod(root.path, 0o2770) == 0)
        let member = try Agent()
        try member.run("uid 23456")
        let answer = try member.ask("open \(root.path) n")
        #expect(answer.contains("clusterUnavailable") && answer.contains("owner alone"), "\(answer)")
        #expect(root.entries(of: "n") == [])
        try member.run("open \(root.path) n local=1")
        try member.run("write [\"mine\"]")
        try member.run("leave")
    }

    /// A root that leaves is an ordinary one again, with its replicas set aside; joined again, it gets them from the others.
    @Test func aRootThatLeavesIsAnOrdinaryOne() throws {
        let machine = cluster[1]
        let n = try cluster.namespaces("jobs")
        try n[0].write("job", 1)
        try n[1].synchronize()
        try machine.space("write", "own", "--persistent", "[1]")
        let busy = try machine.runner.space("join", "--leave")
        #expect(busy.ending == .exited(75) && busy.errors.contains("another daemon serves the root"), "\(busy)")
        try cluster.end(1)
        // Until each replica is out of the way, the root counts as one that has joined.
        let blocker = "\(machine.root.path)/.aside"
        try write([], toFile: blocker)
        #expect(try machine.runner.space("join", "--leave").ending != .exited(0))
        #expect(machine.root.entries().contains(JoinedSpace.file))
        #expect(unlink(blocker) == 0)
        let left = try machine.space("join", "--leave")
        let place = try #require(left.lines.first)
        #expect(left.lines.count == 1 && place.hasPrefix("\(blocker)/jobs"), "\(left)")
        #expect(try machine.runner.dump(place).output.contains(#"["job",1]"#))
        #expect(try machine.space("join", "--leave").lines == [])
        #expect(try machine.space("list").lines.contains { $0.hasPrefix("own") })
        #expect(errorCode { try n[1].write("job", 2) } == .namespaceDeleted)
        try machine.space("write", "jobs", "--persistent", "[\"own\", 1]")
        try machine.space("delete", "jobs")
        try cluster.start(1)
        try cluster.expectSame([n[0], try TestCluster.open("jobs", in: machine)])
    }

    /// The root remembers the space that it has joined, also one whose name and prefix are not the usual ones, for the
    /// advice how to start the daemon.
    @Test func theAdviceNamesTheSpace() throws {
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let words = ["join", "--etcd", cluster.store, "--name", "m2", "--prefix", "/a b\n", "--space", "x\ny"]
        let daemon = try runner.start("space-test-daemon", words)
        #expect(try daemon.readLine() == "joined m2")
        daemon.signal(SIGTERM)
        try daemon.wait()
        let space = try #require(JoinedSpace(ofRoot: root.path))
        #expect(space.prefix == "/a b\n" && space.space.text == "x\ny")
        let usual = try #require(JoinedSpace(ofRoot: cluster[0].root.path))
        #expect(usual.prefix == "shared-space" && usual.space.text == "default")
        expectRefusal(
            try runner.space("write", "n", "--persistent", "[1]"),
            "no daemon runs",
            #"join --etcd URL --prefix "/a b\n" --space "x\ny""#
        )
        // What a later version writes is not understood, and counts all the same.
        try root.overwrite(JoinedSpace.file, [0xFF])
        expectRefusal(try runner.space("write", "n", "--persistent", "[1]"), "no daemon runs", "join --etcd URL;")
        #expect(try runner.space("join", "--leave").ending == .exited(0))
        #expect(try runner.space("write", "n", "--persistent", "[1]").ending == .exited(0))
    }
}

extension Namespace {
    /// Opens a namespace of this name in a machine's root, which must be that machine's alone.
    fileprivate func isolated(in machine: TestCluster.Machine) throws(SpaceError) -> Namespace {
        try machine.root.space.namespace(name, options: NamespaceOptions(isLocal: true))
    }
}
