import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Synchronization
import Testing

/// The owners that keep a namespace alive, and the end of the namespace when they are gone, however they went.
@Suite(.blocking, .serialized, .timeLimit(.minutes(5)))
struct OwnerProcessTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    private init(_ root: TemporaryRoot) { self.root = root }

    private var names: [String] {
        get throws { try root.space.namespaceNames() }
    }

    @Test func aNamespaceIsGoneAtTheNextLookAfterItsLastOwnerWasKilled() throws {
        let first = try Agent(root, "n")
        let second = try Agent(root, "n")
        try first.run("write [\"job\", 1]")
        try first.kill()
        #expect(try names == ["n"])
        #expect(try second.run("count") == "1")
        try second.kill()
        #expect(try names == [])
        #expect(root.leftovers == [])
        // A new namespace of that name begins empty.
        let third = try Agent(root, "n")
        #expect(try third.run("count") == "0")
        #expect(try third.run("verify") == "")
    }

    /// A name is told before the next namespace is deleted, so what a reaper that ends has deleted is known.
    @Test func aReaperThatIsStoppedLeavesTheRest() throws {
        let agents = try ["a", "b", "c"].map { try Agent(root, $0) }
        for agent in agents { try agent.kill() }
        let reaper = Reaper(space: root.space)
        var deleted: [String] = []
        reaper.run { name in
            deleted.append(name)
            reaper.stop()
        }
        try #require(deleted.count == 1)
        #expect(Set(root.entries().filter { !$0.hasPrefix(".") }).union(deleted) == ["a", "b", "c"])
    }

    /// No process lists or opens anything here: the reaper alone finds out, from the kernel.
    @Test func aReaperThatFollowsDeletesAtOnce() throws {
        let reaping = try Reaping(root)
        let owner = try Agent(root, "n")
        let other = try Agent(root, "m")
        let enrolled = try Agent()
        try other.run("enrol \(enrolled.pid)")
        try owner.kill()
        #expect(try eventually { reaping.deleted == ["n"] })
        #expect(try eventually { root.entries() == ["m"] || root.entries() == [".graveyard", ".nursery", "m"] })
        // An enrolled process keeps its namespace alive beyond the processes that have it open.
        try other.kill()
        #expect(root.entries().contains("m"))
        try enrolled.exit()
        #expect(try eventually { reaping.deleted == ["n", "m"] })
        // Namespaces that appear later are followed too.
        let late = try Agent(root, "late")
        try late.kill()
        #expect(try eventually { reaping.deleted == ["n", "m", "late"] })
        try reaping.end()
        #expect(root.leftovers == [])
    }

    /// A `Reaper` on a thread of its own.
    private final class Reaping: Sendable {
        private let reaper: Reaper
        private let names = Mutex<[String]>([])
        private let hasEnded = Atomic<Bool>(false)

        var deleted: [String] { names.withLock { $0 } }

        init(_ root: TemporaryRoot) throws {
            reaper = Reaper(space: root.space)
            try DetachedThread.start { self.follow() }
        }

        private func follow() {
            reaper.run { name in names.withLock { $0.append(name) } }
            hasEnded.store(true, ordering: .releasing)
        }

        func end() throws {
            reaper.stop()
            guard try eventually({ hasEnded.load(ordering: .acquiring) }) else {
                throw TestFailure("the reaper goes on")
            }
        }
    }

    @Test func aPersistentNamespaceStays() throws {
        let owner = try Agent(root, "n", "persistent=1")
        try owner.run("write [\"job\", 1]")
        try owner.kill()
        #expect(try names == ["n"])
        let next = try Agent(root, "n")
        #expect(try next.run("count") == "1")
        try next.run("leave")
        #expect(try names == ["n"])
        try next.open(root, "n")
        try next.run("unpersist")
        #expect(try names == ["n"])
        try next.kill()
        #expect(try names == [])
    }

    @Test func aNamespaceWithoutOwnersGoesWhenItStopsBeingPersistent() throws {
        let visitor = try Agent(root, "n", "persistent=1")
        try visitor.run("leave")
        try visitor.open(root, "n", "owning=0")
        try visitor.run("unpersist")
        #expect(root.entries().contains("n") == false)
        #expect(try visitor.ask("count").hasPrefix("error namespaceDeleted"))
    }

    @Test func aHandleThatDoesNotOwnKeepsNothingAlive() throws {
        let owner = try Agent(root, "n")
        let visitor = try Agent(root, "n", "owning=0")
        try owner.run("write [\"job\", 1]")
        #expect(try visitor.run("count") == "1")
        try owner.kill()
        #expect(try names == [])
        #expect(try visitor.ask("count").hasPrefix("error namespaceDeleted"))
        // A visitor creates no namespace either.
        let late = try Agent()
        #expect(try late.ask("open \(root.path) n owning=0").hasPrefix("error namespaceNotFound"))
        #expect(try names == [])
    }

    @Test func enrolledProcessesOwn() throws {
        let opener = try Agent(root, "n")
        let owner = try Agent()
        try opener.run("enrol \(owner.pid)")
        try opener.run("enrol \(owner.pid)")
        try opener.run("leave")
        #expect(try names == ["n"])
        try opener.open(root, "n", "owning=0")
        let status = try root.space.namespace("n", owning: false).status()
        #expect(status.owners.filter { $0.kind == .enrolled }.map(\.pid) == [owner.pid])
        // A stopped owner is not dead.
        try owner.stop()
        #expect(try names == ["n"])
        owner.resume()
        try owner.kill()
        #expect(try names == [])
    }

    @Test(arguments: [0, 1, -1])
    func whoNeverExitsIsNotEnrolled(_ pid: Int32) throws {
        let namespace = try root.space.namespace("n")
        let error = #expect(throws: SpaceError.self) { try namespace.addOwner(pid: pid) }
        #expect(error?.code == .noSuchProcess)
    }

    @Test func whoHasExitedIsNotEnrolled() throws {
        let namespace = try root.space.namespace("n")
        let gone = try Agent()
        try gone.kill()
        let error = #expect(throws: SpaceError.self) { try namespace.addOwner(pid: gone.pid) }
        #expect(error?.code == .noSuchProcess)
        #expect(try namespace.status().owners.count == 1)
    }

    @Test func disenrollingTheLastOwnerDeletes() throws {
        let opener = try Agent(root, "n")
        let owner = try Agent()
        try opener.run("enrol \(owner.pid)")
        try opener.run("leave")
        let visitor = try root.space.namespace("n", owning: false)
        #expect(try visitor.removeOwner(pid: owner.pid))
        #expect(try names == [])
        let error = #expect(throws: SpaceError.self) { try visitor.count() }
        #expect(error?.code == .namespaceDeleted)
    }

    /// The child keeps the locked descriptor open, so the lock stays; the session's file names the process that is
    /// dead.
    @Test func aForkedChildKeepsNoDeadOwnerAlive() throws {
        let owner = try Agent(root, "n")
        let answer = try owner.run("fork-holding")
        let child = try #require(Int32(answer))
        defer { kill(child, SIGKILL) }
        let session = try #require(root.entries(of: "n/sessions").first)
        try owner.kill()
        let file = try OwnedDescriptor.open("\(root.path)/n/control", flags: O_RDONLY)
        let byte = 1 << 62 + (try #require(Int(session)))
        #expect(
            try FileLock.isHeldByAnother(file.raw, byte: byte),
            "the child has let the lock go: nothing is shown here"
        )
        #expect(try names == [])
    }

    /// The same, when other processes have used the namespace since, and tidied up.
    @Test func aForkedChildKeepsNoDeadOwnerAliveForLater() throws {
        let owner = try Agent(root, "n")
        let child = try #require(Int32(try owner.run("fork-holding")))
        defer { kill(child, SIGKILL) }
        let other = try Agent(root, "n")
        try owner.kill()
        let third = try Agent(root, "n")
        try third.run("leave")
        #expect(try names == ["n"])
        try other.kill()
        #expect(try names == [])
    }

    // MARK: Files that a clean-up removes

    private func sessionFiles() -> [String] { root.entries(of: "n/sessions") }

    /// Removes the files of all sessions, as a clean-up by age does.
    private func removeSessionFiles(withFolder: Bool = false) throws -> [String] {
        let files = sessionFiles()
        for file in files { #expect(unlink("\(root.path)/n/sessions/\(file)") == 0) }
        if withFolder { #expect(rmdir("\(root.path)/n/sessions") == 0) }
        return files
    }

    @Test(arguments: [false, true], [false, true])
    func aWaiterWhoseSessionFileIsRemovedIsServed(_ isTask: Bool, _ withFolder: Bool) throws {
        let root = try TemporaryRoot(for: .durable)
        let test = OwnerProcessTests(root)
        let taker = try Agent(root, "n", "mode=durable persistent=1 owning=1")
        try taker.run("write [\"kept\", 1]")
        try taker.send(isTask ? "take-async [\"job\", \"?\"]" : "take-wait 100000 [\"job\", \"?\"]")
        #expect(try taker.line() == "waiting")
        let files = try test.removeSessionFiles(withFolder: withFolder)
        #expect(files.count == 1)
        // This process looks meanwhile.
        #expect(try root.space.namespaceNames() == ["n"])
        let namespace = try root.space.namespace("n")
        #expect(try eventually { test.sessionFiles().contains(files[0]) })
        // The file has its name for a moment before it has its content.
        #expect(try eventually { try namespace.status().owners.map(\.pid).contains(taker.pid) })
        try namespace.write("job", 2)
        #expect(try taker.line() == "ok [\"job\",2]")
        #expect(try namespace.readAll() == [["kept", 1]])
        #expect(try namespace.verify() == [])
    }

    /// A process that does nothing writes no new file, and is alive all the same: it owns the namespace, and keeps its
    /// claims.
    @Test func aProcessWhoseSessionFileIsRemovedIsAlive() throws {
        let owner = try Agent(root, "n")
        try owner.run("write [\"job\", 1]")
        try owner.run("claim [\"job\", 1]")
        #expect(try removeSessionFiles().count == 1)
        #expect(try names == ["n"])
        #expect(try root.space.reap() == [])
        let visitor = try Agent(root, "n", "owning=0")
        #expect(try visitor.run("count") == "0")
        try visitor.run("leave")
        try owner.run("complete")
        // The next call of the process that uses the sessions brings the file back.
        try owner.run("persist")
        #expect(sessionFiles().count == 1)
        try owner.run("unpersist")
        #expect(try removeSessionFiles().count == 1)
        try owner.run("leave")
        #expect(try names == [])
        #expect(root.leftovers == [])
    }

    @Test func aKilledProcessWhoseSessionFileWasRemovedOwnsNothing() throws {
        let owner = try Agent(root, "n")
        #expect(try removeSessionFiles().count == 1)
        try owner.kill()
        #expect(try names == [])
    }

    @Test func aForkedChildCannotUseItsParentsHandle() throws {
        let owner = try Agent(root, "n")
        try owner.run("write [\"job\", 1]")
        #expect(try owner.run("fork-using") == "0")
        #expect(try owner.run("count") == "1")
        #expect(try names == ["n"])
    }

    @Test func aForkedChildThatLeavesEndsNothingOfItsParents() throws {
        let owner = try Agent(root, "n")
        try owner.run("write [\"job\", 1]")
        #expect(try owner.run("fork-leaving") == "0")
        #expect(root.entries(of: "n/sessions").count == 1)
        #expect(try owner.run("count") == "1")
        #expect(try names == ["n"])
    }

    /// A forked child can't open a namespace, not even one that its parent has never had open, because the threads that
    /// would serve it are its parent's.
    @Test(arguments: ["n", "another"])
    func aForkedChildIsRefusedWhereItOpens(_ name: String) throws {
        let owner = try Agent(root, "n")
        try owner.run("write [\"job\", 1]")
        try owner.send("fork-opening \(name)")
        let refusal = try #require(try owner.line())
        #expect(refusal.hasPrefix("error forked 0 cannot open the namespace (namespace \"\(name)\"): "))
        #expect(refusal.contains("start the child by exec or posix_spawn"))
        #expect(try owner.line() == "ok 0")
        #expect(try owner.run("count") == "1")
        #expect(try names == ["n"])
    }

    /// A process that has opened no namespace yet may fork, and then both may open one.
    @Test func aForkBeforeTheFirstNamespaceIsNoObstacle() throws {
        let (parent, other) = (try Agent(), try Agent(root, "n"))
        try other.run("write [\"job\", 1]")
        let child = try #require(Int32(try parent.run("fork-holding")))
        defer { kill(child, SIGKILL) }
        try parent.open(root, "n")
        #expect(try parent.run("count") == "1")
    }

    @Test func execEndsASession() throws {
        let owner = try Agent(root, "n")
        try owner.run("exec")
        // The same process runs another program, which sends back any line that it is sent.
        #expect(try owner.ask("ping") == "ping")
        #expect(try names == [])
    }

    @Test func leavingDeletesAtOnce() throws {
        let owner = try Agent(root, "n")
        try owner.run("leave")
        #expect(root.entries() == [".graveyard", ".nursery"])
        #expect(root.leftovers == [])
        // Exiting leaves the namespace too, and so does the end of the last handle.
        try owner.open(root, "n")
        try owner.run("drop")
        #expect(root.entries() == [".graveyard", ".nursery"])
        try owner.open(root, "n")
        try owner.exit()
        #expect(root.entries() == [".graveyard", ".nursery"])
        #expect(root.leftovers == [])
    }

    @Test func twoWhoLeaveAtOnceLeaveNothing() throws {
        let agents = [try Agent(), try Agent()]
        for _ in 0..<100 {
            for agent in agents { try agent.open(root, "n") }
            for agent in agents { try agent.send("leave") }
            for agent in agents { #expect(try agent.line() == "ok") }
            #expect(root.entries().contains("n") == false)
        }
        #expect(root.leftovers == [])
    }

    /// Processes open, write, read and leave the same name, over and over, while others reap and some are killed: a
    /// process that has the namespace open always finds its own tuple in it.
    @Test func noNamespaceIsDeletedUnderItsOwner() throws {
        let rounds = 400
        var openers: [Agent] = []
        func start(_ number: Int) throws {
            let opener = try Agent()
            try opener.run("ledger \(Ledger(root, "opened-\(number)").path)")
            try opener.send("open-loop \(root.path) n \(rounds) \(number * rounds)")
            openers.append(opener)
        }
        let reapers = try (0..<2).map { _ in try Agent() }
        for number in 0..<4 { try start(number) }
        for reaper in reapers { try reaper.send("reap-loop \(root.path) \(2 * rounds)") }
        for number in 4..<10 {
            let ledger = Ledger(root, "opened-\(number - 1)")
            let victim = openers.remove(at: Int.random(in: 0..<openers.count - 1))
            #expect(try eventually { try ledger.numbers().count > 10 })
            kill(victim.pid, SIGKILL)
            // The victim was killed, or had ended already.
            _ = try victim.ended()
            try start(number)
        }
        for opener in openers { #expect(try opener.line() == "ok \(rounds)") }
        for reaper in reapers { #expect(try reaper.line()?.hasPrefix("ok ") == true) }
        #expect(try names == [])
        #expect(root.leftovers == [])
    }

    /// A process that still has a deleted namespace open does not take it for the new one of that name.
    @Test(arguments: StorageMode.allCases)
    func aNameUsedAgainIsAnotherNamespace(_ mode: StorageMode) throws {
        let root = try TemporaryRoot(in: "/var/tmp")
        let other = try Agent()
        for round in 0..<10 {
            let old = try root.namespace(mode)
            try old.write("old", round)
            try root.space.delete("n")
            try other.open(root, "n", "mode=\(mode)")
            try other.run("write [\"new\", \(round)]")
            let new = try root.namespace(mode)
            #expect(try new.readAll() == [Tuple("new", round)])
            try new.write("mine", round)
            #expect(try other.run("count") == "2")
            #expect(throws: SpaceError.self) { try old.count() }
            #expect(try new.verify() == [])
            try new.leave()
            try other.run("leave")
            withExtendedLifetime(old) {}
        }
    }
}
