import Glibc
import SharedSpace
import SpaceEngine
import SpaceMachines
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import TupleSpace

/// One name that several processes of two machines make, delete and wait for at the same time.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct MakingTests {
    let cluster: TestCluster

    init() throws { cluster = try TestCluster() }

    /// Several processes of two machines make the same namespace at once: one of them makes it, and all use it.
    @Test func manyMakeOneNamespaceAtOnce() throws {
        for round in 0..<5 {
            let makers = try [0, 1, 0, 0, 1, 0].map { number in
                try cluster[number].runner.start(
                    "space",
                    ["write", "at-once-\(round)", "--replicated", "--persistent", "[\(number)]", "--timeout", "60s"]
                )
            }
            for maker in makers {
                let result = try maker.finish()
                #expect(result.ending == .exited(0), "\(result.errors)")
            }
            let n = try cluster.machines.map { try TestCluster.open("at-once-\(round)", in: $0) }
            try cluster.expectSame(n)
            #expect(try n[0].count(matching: [.any]) == makers.count)
        }
    }

    /// A process that waits for a namespace does not keep it from becoming a shared one: it waits until it is one.
    @Test func aConsumerWaitsUntilTheNamespaceIsShared() throws {
        let maker = try Agent()
        try maker.run("arm stop published")
        try maker.send("open \(cluster[0].root.path) n replicated=1 persistent=1")
        try maker.waitUntilStopped()
        let watcher = try cluster[0].runner.start("space", ["watch", "n", "--wait", "10m", "--max", "1"])
        // It waits for the lock of the name.
        #expect(try eventually { watcher.openFiles.contains { $0.hasSuffix("/.cluster/making") } })
        maker.resume()
        #expect(try maker.line() == "ok")
        #expect(try watcher.readLine()?.contains("\"ready\"") == true)
        try maker.run("write [\"job\", 1]")
        #expect(try watcher.finish().ending == .exited(0))
        let n = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        try cluster.expectSame(n)
    }

    /// What a killed maker has left becomes the machines' namespace, or makes room for the one that they share meanwhile.
    @Test(arguments: [false, true])
    func aKilledMakersNamespaceIsUsed(isMadeElsewhere: Bool) throws {
        let maker = try Agent()
        try maker.run("arm kill published")
        try maker.send("open \(cluster[1].root.path) n replicated=1 persistent=1")
        #expect(try maker.ended() == .killed(by: SIGKILL))
        let words = ["write", "n", "--replicated", "--persistent"]
        if isMadeElsewhere { try cluster[0].space(words + ["[\"a\"]"]) }
        try cluster[1].space(words + ["[\"b\"]"])
        let n = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        try cluster.expectSame(n)
        #expect(try n[0].count() == (isMadeElsewhere ? 2 : 1))
    }

    /// Several processes of two machines make and delete the same namespace at once: each deletion ends what it finds, and
    /// who makes the namespace waits for nothing that was deleted.
    @Test func manyMakeAndDeleteOneNamespace() throws {
        for _ in 0..<40 {
            let commands = try [0, 1, 1, 0, 1].enumerated().map { index, number in
                let words = index == 3 ? ["delete", "n"] : ["write", "n", "--replicated", "[\(index)]"]
                return try cluster[number].runner.start("space", words)
            }
            for command in commands {
                let result = try command.finish()
                #expect([.exited(0), .exited(69)].contains(result.ending), "\(result)")
            }
        }
        // The namespace that is left has one pen at most, and works on both machines once a deleted replica is removed.
        #expect(try cluster.ask("keys /pen") <= 1)
        let words = ["write", "n", "--replicated", "[\"last\"]"]
        #expect(try eventually { try cluster[0].runner.start("space", words).finish().ending == .exited(0) })
        let n = try cluster.machines.map { try TestCluster.open("n", in: $0) }
        try cluster.expectSame(n)
        #expect(try n[1].readIfExists("last") != nil)
    }

    /// A process that is stopped while it makes a namespace keeps the others from making that one, and no other.
    @Test func aStoppedMakerKeepsOnlyItsName() throws {
        let machine = cluster[0]
        // As such a process does.
        let making = try OwnedDescriptor.open("\(machine.root.path)/.cluster/making", flags: O_RDWR)
        #expect(try FileLock.tryExclusive(making.raw, byte: Int(hash64(Array("made".utf8)) & 0x3fff_ffff)))
        let words = ["write", "made", "--replicated", "--persistent", "--timeout", "300ms", "[1]"]
        let result = try machine.runner.start("space", words).finish()
        #expect(result.ending == .exited(75))
        #expect(result.errors.contains("holds the lock of its name"), "\(result.errors)")
        try machine.space("write", "other", "--replicated", "--persistent", "[1]")
        _ = consume making
        try machine.space("write", "made", "--replicated", "--persistent", "[1]")
    }

    /// A mark that a killed daemon has left keeps no process from using the namespace.
    @Test func anOldMarkKeepsNobodyOut() throws {
        let n = try cluster.namespaces()
        let mark = "\(cluster[0].root.path)/.cluster/\(DaemonSocket.mark(of: try NamespaceName("n")))"
        try write([], toFile: mark)
        try cluster[0].space("write", "n", "--replicated", "[\"job\", 1]")
        try cluster.expectSame(n)
    }

    /// A namespace of one machine that a process uses is neither shared nor removed because another process wants a shared one.
    @Test(arguments: [true, false])
    func aNamespaceInUseStaysLocal(isWritten: Bool) throws {
        let own = try cluster[1].root.space.namespace("n")
        let watcher = try Agent(cluster[1].root, "n", "owning=0")
        #expect(try watcher.ask("watch").hasPrefix("ok"))
        if isWritten { try own.write("mine", 1) }
        let result = try cluster[1].runner.start("space", ["write", "n", "--replicated", "[1]"]).finish()
        #expect(result.ending == .exited(69), "\(result.errors)")
        try own.write("mine", 2)
        #expect(try own.count() == (isWritten ? 2 : 1) && !own.isReplicated)
    }

    /// What a process writes between a look and the removal of an unused namespace is not lost.
    @Test func onlyAnUnusedNamespaceIsRemoved() throws {
        let root = cluster[1].root
        let own = try root.space.namespace("n")
        try own.write("mine", 1)
        let remover = NamespaceRemover(root: own.core.root, timeout: .seconds(5))
        let name = try NamespaceName("n")
        #expect(try remover.delete(name, of: own.life, onlyUnused: true, host: .current()) == .stays)
        #expect(try own.takeIfExists("mine", 1) != nil)
        // It has had changes, although nothing is left.
        #expect(try remover.delete(name, of: own.life, onlyUnused: true, host: .current()) == .stays)
        let other = try root.space.namespace("unused")
        try other.transaction { _ in }
        #expect(
            try remover.delete(NamespaceName("unused"), of: other.life, onlyUnused: true, host: .current()) == .deleted
        )
    }
}
