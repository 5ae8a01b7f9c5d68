import Glibc
import LMDB
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SystemPackage
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Foreign files in place of a namespace's own, as a member of its group can put them there, make no process read,
/// change or extend a file outside of the namespace, and make none wait.
@Suite(.timeLimit(.minutes(5)))
struct HostileFilesTests {
    private let root: TemporaryRoot
    private let canary: String

    init() throws {
        root = try TemporaryRoot()
        canary = "\(root.path)/.canary"
        try root.overwrite(".canary", Self.secret)
    }

    private static let secret = Array("not to be read, changed or made longer".utf8)

    /// A file that an attacker puts in another's place.
    enum Plant: CaseIterable {
        case link, dangling, fifo, folder, hardLink
    }

    private func plant(_ what: Plant, _ name: String) throws {
        let path = "\(root.path)/n/\(name)"
        _ = unlink(path)
        let isDone =
            switch what {
            case .link: symlink(canary, path) == 0
            case .dangling: symlink("\(root.path)/.made", path) == 0
            case .fifo: mkfifo(path, 0o660) == 0
            case .folder: mkdir(path, 0o770) == 0
            case .hardLink: link(canary, path) == 0
            }
        guard isDone else { throw TestFailure("\(what): errno \(errno)") }
    }

    private func expectUntouched() throws {
        #expect(try root.bytes(of: ".canary") == Self.secret)
        #expect(access("\(root.path)/.made", F_OK) != 0)
        #expect(root.leftovers == [])
    }

    /// A persistent namespace with a tuple in it, which no process has open any more.
    private func makeNamespace(shared: Bool) throws {
        let options = NamespaceOptions(isPersistent: true, group: shared ? getegid() : nil)
        let namespace = try root.space.namespace("n", options: options)
        try namespace.write("kept", 1)
        try namespace.leave()
    }

    @Test(arguments: [false, true])
    func aSharedNamespaceIsAsAnyOther(_ isShared: Bool) throws {
        try makeNamespace(shared: isShared)
        // The inspection comes first, because a process that has the namespace open may not open it a second time.
        #expect(try Inspection(.name("n", root: root.path), checking: true).damage == [])
        let namespace = try root.space.namespace("n")
        #expect(try namespace.takeIfExists("kept", any(Int.self)) != nil)
        #expect(try namespace.verify() == [])
        try root.space.delete("n")
        try expectUntouched()
    }

    @Test(arguments: Plant.allCases, ["control", "data.mdb", "lock.mdb"])
    func whatIsInAFilesPlaceIsNotOpened(_ what: Plant, _ name: String) throws {
        for isShared in [false, true] {
            try makeNamespace(shared: isShared)
            try plant(what, name)
            #expect(try refusal { _ = try root.space.namespace("n") }.code == .damaged)
            #expect(try refusal { _ = try root.space.existingNamespace("n", owning: false) }.code == .damaged)
            _ = try root.space.reap()
            try root.space.delete("n")
            #expect(root.entries().filter { !$0.hasPrefix(".") } == [])
            try expectUntouched()
        }
    }

    /// The change signal is opened under the gate: opening a FIFO in its place would block the writer, and all
    /// processes that wait for the gate.
    @Test(arguments: Plant.allCases)
    func aBellThatIsNoneIsNotRung(_ what: Plant) throws {
        try makeNamespace(shared: true)
        try plant(what, "bell")
        let writer = try Agent(root, "n")
        let watcher = try Agent(root, "n", "owning=0")
        try watcher.run("watch")
        for command in ["next-wait", "next-async"] {
            try watcher.send(command)
            #expect(try watcher.line() == "waiting")
            try writer.run("write [\"job\", 1]")
            #expect(try watcher.line()?.hasPrefix("ok write ") == true)
        }
        try root.space.delete("n")
        try writer.kill()
        try watcher.kill()
        try expectUntouched()
    }

    @Test(arguments: Plant.allCases)
    func doorbellsThatAreNoneAreNotUsed(_ what: Plant) async throws {
        try makeNamespace(shared: true)
        try plant(what, "../.doorbells")
        let namespace = try root.space.namespace("n")
        async let taken = namespace.take("job", any(Int.self))
        try namespace.write("job", 1)
        #expect(try await taken.1 == 1)
        try root.space.delete("n")
        try expectUntouched()
    }

    /// Covers the session files that are read, and the draft of the one that an enrolment writes.
    @Test(arguments: Plant.allCases)
    func sessionsThatAreNoneOwnNothing(_ what: Plant) throws {
        try makeNamespace(shared: true)
        let process = try ProcessIdentity.current
        try plant(what, "sessions/77")
        try plant(what, "sessions/.\(SessionFile.enrolledName(process))")
        let namespace = try root.space.existingNamespace("n", owning: false)
        if what == .folder {
            #expect(throws: SpaceError.self) { try namespace.core.enrol(process) }
        } else {
            try namespace.core.enrol(process)
            #expect(try namespace.status().owners.contains { $0.pid == getpid() })
        }
        try expectUntouched()
        try root.space.delete("n")
        try expectUntouched()
    }

    /// LMDB opens files by path, and must not open a file that was swapped in after the check.
    @Test func filesSwappedAfterTheCheckAreNotOpened() throws {
        try makeNamespace(shared: true)
        let host = try HostIdentity.current()
        let name = try NamespaceName("n")
        guard let rootFolder = try root.space.spaceRoot.open(create: false),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root.space.spaceRoot)
        else { throw TestFailure("the namespace is gone") }
        let finding = try ControlFinding.look(at: folder, host: host)
        let place = try DataPlace(folder, creates: false, timeout: .seconds(1))
        for file in ["data.mdb", "lock.mdb"] {
            try #require(rename("\(root.path)/n/\(file)", "\(root.path)/n/\(file)-away") == 0)
            try plant(.link, file)
        }
        let environment = try Environment(
            path: place.path,
            mapSize: Int(finding.header.mapSize),
            maxReaders: Int(finding.header.maxReaders),
            maxDatabases: Tables.named,
            flags: DataFile.flags(for: .fast)
        )
        try place.check(environment)
        #expect(environment.close())
        #expect(try root.bytes(of: ".canary") == Self.secret)
    }

    /// LMDB waits without bound for a lock that only a first opener holds, and then only for a moment.
    @Test func aLockedLockFileIsAnError() throws {
        try makeNamespace(shared: true)
        let lock = try OwnedDescriptor.open("\(root.path)/n/lock.mdb", flags: O_RDWR)
        try #require(try FileLock.tryExclusive(lock.raw))
        let impatient = try Space(root: root.path, timeout: .milliseconds(50))
        #expect(try refusal { _ = try impatient.namespace("n") }.code == .holderBusy)
        try FileLock.unlock(lock.raw)
        #expect(try impatient.namespace("n").count() == 1)
        try root.space.delete("n")
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a file away"),
        arguments: ["control", "data.mdb", "lock.mdb"]
    )
    func anothersFileIsNotOpened(_ name: String) throws {
        try makeNamespace(shared: false)
        #expect(chown("\(root.path)/n/\(name)", 12345, 12345) == 0)
        let error = try refusal { _ = try root.space.namespace("n") }
        #expect(error.code == .permissionDenied)
        #expect(error.reason.contains("12345"))
        try root.space.delete("n")
        try expectUntouched()
    }
}
