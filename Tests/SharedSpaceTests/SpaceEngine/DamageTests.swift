import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SystemPackage
import Testing

@testable import SpaceEngine
@testable import SpaceInspection
@testable import SpaceRecipes
@testable import TupleSpace

/// Files that are damaged, foreign or from before a reboot are handled, or refused with an error that says why; no call
/// crashes, and no other namespace is harmed.
@Suite(.timeLimit(.minutes(5)))
struct DamageTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot() }

    /// A persistent namespace with a tuple in it, which no process has open any more.
    private func makeNamespace(_ mode: StorageMode = .fast, in root: TemporaryRoot? = nil) throws {
        let options = NamespaceOptions(mode: mode, isPersistent: true)
        let namespace = try (root ?? self.root).space.namespace("n", options: options)
        try namespace.write("kept", 1)
        try namespace.leave()
    }

    private func openingFails() throws -> SpaceError {
        try refusal { _ = try root.space.namespace("n") }
    }

    // MARK: Names

    @Test func namesThatNoFolderCanHaveAreRefused() throws {
        for name in ["", ".", "..", "/", "a/b", "../n", "a\0b", "\0", String(repeating: "n", count: 10_000)] {
            #expect(try refusal { _ = try root.space.namespace(name) }.code == .invalidName)
            #expect(try refusal { _ = try root.space.existingNamespace(name) }.code == .invalidName)
            #expect(try refusal { try root.space.delete(name) }.code == .invalidName)
        }
        #expect(root.entries() == [])
    }

    @Test func otherNamesAreTakenAsTheyAre() throws {
        for name in [
            "…", ".hidden", "a b", "%", "%2E", "ümläut", "-", "a.b", "\u{1}\n", String(repeating: "n", count: 200),
        ] {
            let namespace = try root.space.namespace(name)
            try namespace.write("kept", 1)
            #expect(namespace.name == name)
            #expect(try root.space.namespaceNames() == [name])
            #expect(root.entries().allSatisfy { !$0.hasPrefix(".") || [".nursery", ".graveyard"].contains($0) })
            #expect(try root.space.namespace(name).count() == 1)
        }
    }

    // MARK: Folders

    @Test func aLinkIsNotFollowed() throws {
        try makeNamespace()
        #expect(symlink(root.path, "\(root.path)-link") == 0)
        defer { unlink("\(root.path)-link") }
        #expect(try refusal { _ = try Space(root: "\(root.path)-link") }.code == .permissionDenied)
        #expect(symlink("n", "\(root.path)/linked") == 0)
        #expect(try refusal { _ = try root.space.namespace("linked") }.code == .permissionDenied)
        // Reaping skips the link, and does not delete the folder that it leads to.
        _ = try root.space.reap()
        #expect(try root.space.namespace("n").count() == 1)
    }

    @Test func aFolderThatOthersMayWriteInIsRefused() throws {
        try makeNamespace()
        #expect(chmod("\(root.path)/n", 0o777) == 0)
        #expect(try openingFails().code == .permissionDenied)
        #expect(chmod("\(root.path)/n", 0o700) == 0)
        #expect(chmod(root.path, 0o777) == 0)
        #expect(try refusal { _ = try Space(root: root.path) }.code == .permissionDenied)
        #expect(try openingFails().code == .permissionDenied)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func anotherUsersFolderIsRefused() throws {
        try makeNamespace()
        #expect(chown("\(root.path)/n", 12345, 12345) == 0)
        #expect(try openingFails().code == .permissionDenied)
        #expect(chown("\(root.path)/n", 0, 0) == 0)
        #expect(chown(root.path, 12345, 12345) == 0)
        let error = try refusal { _ = try Space(root: root.path) }
        #expect(error.code == .permissionDenied)
        #expect(error.reason.contains("12345"))
    }

    @Test func aFileInPlaceOfAFolderIsRefused() throws {
        try root.overwrite("n", [1, 2, 3])
        #expect(try openingFails().code == .permissionDenied)
        let file = "\(root.path)/n"
        #expect(try refusal { _ = try Space(root: file) }.code == .permissionDenied)
        #expect(try refusal { _ = try Space(root: "") }.code == .invalidArgument)
        #expect(try refusal { _ = try Space(root: "\(root.path)/not/there") }.code == .inputOutput)
    }

    // MARK: The control file

    @Test func anotherFormatVersionIsRefused() throws {
        try makeNamespace()
        try root.changeHeader { $0.version = 99 }
        let error = try openingFails()
        #expect(error.code == .incompatible)
        #expect(error.reason.contains("99"))
        try changeBack()
    }

    /// Undoes the damage, and checks that the namespace is as it was.
    private func changeBack() throws {
        var bytes = try root.bytes(of: "n/control")
        bytes[8] = UInt8(ControlHeader.currentVersion)
        let sum = hash64(Array(bytes[..<(ControlHeader.size - 8)]))
        try root.overwrite(
            "n/control",
            Array(bytes[..<(ControlHeader.size - 8)]) + withUnsafeBytes(of: sum.littleEndian) { Array($0) }
        )
        #expect(try root.space.namespace("n").count() == 1)
    }

    @Test func anotherModeIsRefused() throws {
        try makeNamespace(.guarded)
        for mode in [StorageMode.fast, .durable] {
            let error = try refusal { _ = try root.space.namespace("n", options: NamespaceOptions(mode: mode)) }
            #expect(error.code == .incompatible)
        }
        #expect(try root.space.namespace("n").mode == .guarded)
        #expect(try root.space.namespace("n", options: NamespaceOptions(mode: .guarded)).count() == 1)
    }

    @Test func whatIsNamedHasToBeTheNamespaces() throws {
        let limit = Limits.smallestByteLimit
        let made = NamespaceOptions(byteLimit: limit, history: History(changes: 10))
        let namespace = try root.space.namespace("n", options: made)
        for options in [
            NamespaceOptions(isPersistent: true), NamespaceOptions(byteLimit: limit + 4096),
            NamespaceOptions(group: getegid()), NamespaceOptions(history: History(changes: 11)),
            NamespaceOptions(history: History()),
        ] {
            #expect(try refusal { _ = try root.space.namespace("n", options: options) }.code == .incompatible)
        }
        #expect(try root.space.namespace("n", options: made).history == namespace.history)
        try namespace.setPersistent(true)
        try namespace.leave()
        let persistent = NamespaceOptions(isPersistent: true, history: History(changes: 10))
        let again = try root.space.namespace("n", options: persistent)
        #expect(try again.verify() == [])
        try again.setPersistent(false)
    }

    private static let foreign: [@Sendable (inout ControlHeader) -> Void] = [
        { $0.bootID[0] ^= 1 }, { $0.pidNamespace += 1 }, { $0.timeNamespace += 1 }, { $0.mutexABI += 1 },
        { $0.device += 1 },
        { $0.inode += 1 },
    ]

    /// If any identifier differs, a namespace that a process uses is refused and left as it is.
    @Test(arguments: 0..<6)
    func aForeignHeaderIsRefusedWhileTheNamespaceIsInUse(_ number: Int) throws {
        let namespace = try root.space.namespace("n")
        try namespace.write("kept", 1)
        let good = Array(try root.bytes(of: "n/control").prefix(ControlHeader.size))
        try root.changeHeader(Self.foreign[number])
        #expect(try openingFails().code == .incompatible)
        #expect(try root.space.namespaceNames() == ["n"])
        #expect(try root.space.reap() == [])
        try root.overwrite("n/control", good)
        #expect(try root.space.namespace("n").readAll() == [["kept", 1]])
        #expect(try namespace.verify() == [])
    }

    /// A namespace that no process uses is taken over, in every mode.
    @Test(arguments: 0..<6, StorageMode.allCases)
    func aForeignHeaderOfAnUnusedNamespaceIsReplaced(_ number: Int, _ mode: StorageMode) throws {
        let root = try TemporaryRoot(for: mode)
        try makeNamespace(mode, in: root)
        try root.changeHeader(Self.foreign[number])
        #expect(try root.space.namespaceNames() == ["n"])
        let namespace = try root.space.namespace("n")
        #expect(try namespace.readAll() == [["kept", 1]])
        try namespace.write("more", 1)
        #expect(try namespace.verify() == [])
    }

    /// Until it calls exec, a child has the open files of its parent, which has left the namespace in the meantime.
    @Test(arguments: [false, true]) func aChildThatIsBeingStartedUsesNothing(_ creates: Bool) throws {
        if !creates { try makeNamespace() }
        var inherited: [CInt] = []
        defer { for descriptor in inherited { close(descriptor) } }
        do {
            let namespace = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
            if creates { try namespace.write("kept", 1) }
            // A duplicate shares the open file and its locks, as the child's descriptor does (fcntl(2)).
            inherited = try root.descriptors(of: "n/control").map { dup($0) }
            #expect(!inherited.isEmpty)
            try namespace.leave()
        }
        try root.changeHeader(Self.foreign[0])
        #expect(try root.space.namespace("n").readAll() == [["kept", 1]])
    }

    /// A process killed in the middle of an adoption leaves a header that matches no system; the next opener begins
    /// anew.
    @Test func aHalfMadeAdoptionIsRepeated() throws {
        try makeNamespace()
        try root.changeHeader { $0.bootID = [UInt8](repeating: 0, count: 16) }
        #expect(unlink("\(root.path)/n/lock.mdb") == 0)
        try root.overwrite("n/control", [UInt8](repeating: 0, count: 300), at: 320)
        let namespace = try root.space.namespace("n")
        #expect(try namespace.readAll() == [["kept", 1]])
        #expect(try namespace.verify() == [])
    }

    @Test(arguments: [0, 1, 8, 255, 256, 4096, ControlFile.size - 1])
    func aTruncatedControlFileIsDamage(_ length: Int) throws {
        try makeNamespace()
        try root.overwrite("n/control", [], length: length)
        #expect(try openingFails().code == .damaged)
        // The namespace can be listed, and deleted by name.
        #expect(try root.space.namespaceNames() == ["n"])
        try root.space.delete("n")
        #expect(try root.space.namespaceNames() == [])
        #expect(try root.space.namespace("n").count() == 0)
    }

    @Test func everyByteOfTheHeaderIsChecked() throws {
        try makeNamespace()
        let good = Array(try root.bytes(of: "n/control").prefix(ControlHeader.size))
        for offset in good.indices {
            var bad = good
            bad[offset] ^= 1 << UInt8.random(in: 0..<8)
            try root.overwrite("n/control", bad)
            #expect([.damaged, .incompatible].contains(try openingFails().code))
        }
        try root.overwrite("n/control", good)
        #expect(try root.space.namespace("n").count() == 1)
    }

    /// A process that has the namespace open is told, although the process that deletes it could not map the control file.
    @Test func theUsersOfADamagedNamespaceLearnOfItsEnd() throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: .guarded))
        try namespace.write("kept", 1)
        try root.overwrite("n/control", [UInt8](repeating: 0, count: ControlHeader.size))
        try root.space.delete("n")
        #expect(try root.space.namespaceNames() == [])
        #expect(try refusal { try namespace.write("lost", 1) }.code == .namespaceDeleted)
        #expect(try refusal { _ = try namespace.count() }.code == .namespaceDeleted)
    }

    @Test func aMissingControlFileIsDamage() throws {
        try makeNamespace()
        #expect(unlink("\(root.path)/n/control") == 0)
        #expect(try openingFails().code == .damaged)
        try root.space.delete("n")
        #expect(try root.space.namespaceNames() == [])
    }

    @Test func theUsersOfANamespaceWithoutAControlFileLearnOfItsEnd() throws {
        let namespace = try root.space.namespace("n")
        #expect(unlink("\(root.path)/n/control") == 0)
        try root.space.delete("n")
        let error = try refusal { _ = try namespace.take("never", timeout: .seconds(60)) }
        #expect(error.code == .namespaceDeleted)
    }

    /// The bytes from 64 on hold the reader slots: process, thread and snapshot of each.
    @Test func aLockFileThatAnotherProgramChangedIsNamed() throws {
        let namespace = try root.space.namespace("n", options: NamespaceOptions(mode: .guarded))
        try namespace.write("kept", 1)
        #expect(try namespace.count() == 1)
        let size = try root.bytes(of: "n/lock.mdb").count
        try root.overwrite("n/lock.mdb", [UInt8](repeating: 0x5A, count: size - 128), at: 128)
        let error = try refusal { _ = try namespace.count() }
        #expect(error.code == .damaged)
        #expect(error.description.contains("lock.mdb"))
        #expect(error.advice?.contains("end the processes") == true)
        try root.overwrite("n/lock.mdb", [UInt8](repeating: 0, count: size - 128), at: 128)
    }

    // MARK: The data file

    /// A look that has opened the folder finds files missing when the namespace is deleted: that is no damage.
    @Test func aNamespaceThatIsDeletedUnderALookIsNotFound() throws {
        try makeNamespace()
        let subject = Inspection.Subject.name("n", root: root.path)
        let folder = try Inspection.folder(subject, for: "look")
        try root.space.delete("n")
        for isMadeAnew in [false, true] {
            if isMadeAnew { try makeNamespace() }
            let errors = try [
                refusal { _ = try Inspection.damagedPages(whole: folder, timeout: .seconds(1)) },
                refusal { _ = try Inspection(whole: folder, checking: true, listsClaims: true, timeout: .seconds(1)) },
                refusal {
                    _ = try Inspection(whole: folder, checking: false, listsClaims: false, timeout: .seconds(1))
                },
                refusal { _ = try Salvage(whole: folder, timeout: .seconds(1)) },
            ]
            #expect(errors.map(\.code) == Array(repeating: .namespaceNotFound, count: 4))
        }
        #expect(try Inspection(subject, checking: true).damage == [])
    }

    @Test(arguments: StorageMode.allCases)
    func garbageInPlaceOfTheDataFileIsDamage(_ mode: StorageMode) throws {
        let root = try TemporaryRoot(for: mode)
        try makeNamespace(mode, in: root)
        try root.overwrite("n/data.mdb", (0..<8192).map { _ in UInt8.random(in: 1...255) })
        #expect(try refusal { _ = try root.space.namespace("n") }.code == .damaged)
        // The failed opener left no session.
        #expect(root.entries(of: "n/sessions") == [])
        try root.space.delete("n")
        #expect(try root.space.namespaceNames() == [])
    }

    @Test func aDataFileWithoutTablesIsDamage() throws {
        try makeNamespace()
        let other = try TemporaryRoot()
        try other.overwrite("empty", [])
        #expect(unlink("\(root.path)/n/data.mdb") == 0)
        // LMDB makes an empty data file in its place.
        #expect(try openingFails().code == .damaged)
        #expect(root.entries(of: "n/sessions") == [])
    }

    // MARK: Sessions

    /// An enrolment does not count if its PID belongs to another process by now: the start times differ.
    @Test func aUsedAgainPIDOwnsNothing() throws {
        let visitor = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        let living = try #require(ProcessIdentity.of(pid: getppid()))
        let earlier = ProcessIdentity(pid: living.pid, startTime: living.startTime - 1)
        let file = SessionFile(kind: .enrolled, process: earlier, isOwning: true)
        try root.overwrite("n/sessions/\(file.name)", file.encoded())
        #expect(try visitor.status().owners.first { $0.kind == .enrolled }?.isAlive == false)
        try visitor.leave()
        let watching = try root.space.namespace("n", owning: false)
        try watching.setPersistent(false)
        #expect(root.entries().contains("n") == false)

        // The same file with the right start time does own the namespace.
        let again = try root.space.namespace("n", options: NamespaceOptions(isPersistent: true))
        let right = SessionFile(kind: .enrolled, process: living, isOwning: true)
        try root.overwrite("n/sessions/\(right.name)", right.encoded())
        try again.leave()
        try root.space.namespace("n", owning: false).setPersistent(false)
        #expect(try root.space.namespaceNames() == ["n"])
    }

    @Test(arguments: [0, 1, 63, 64, 65, 66, 100_000])
    func garbageAmongTheSessionsIsNoOwner(_ length: Int) throws {
        let namespace = try root.space.namespace("n")
        let garbage = (0..<length).map { _ in UInt8.random(in: 0...255) }
        for name in ["7777", "1.2.for", "garbage", "-1", "99999999999999999999999"] {
            try root.overwrite("n/sessions/\(name)", garbage)
        }
        #expect(mkdir("\(root.path)/n/sessions/888", 0o700) == 0)
        #expect(symlink("/dev/zero", "\(root.path)/n/sessions/999") == 0)
        #expect(mkfifo("\(root.path)/n/sessions/777", 0o600) == 0)
        try namespace.write("kept", 1)
        _ = try namespace.status()
        try namespace.leave()
        #expect(try root.space.namespaceNames() == [])
        #expect(root.leftovers == [])
    }

    // MARK: After a reboot

    /// A persistent namespace is taken over in every mode, because unsynced data is whole after an orderly shutdown.
    @Test(arguments: [StorageMode.fast, .guarded], [false, true])
    func whatIsPersistentIsAdopted(_ mode: StorageMode, _ listsFirst: Bool) throws {
        try makeNamespace(mode)
        try root.pretendReboot()
        if listsFirst { #expect(try root.space.namespaceNames() == ["n"]) }
        let namespace = try root.space.namespace("n")
        #expect(try namespace.readAll() == [["kept", 1]])
        #expect(namespace.isPersistent)
        #expect(root.leftovers == [])
        #expect(try namespace.verify() == [])
    }

    @Test(arguments: StorageMode.allCases, [false, true])
    func whatNoProcessOwnsIsDiscarded(_ mode: StorageMode, _ listsFirst: Bool) throws {
        let root = try TemporaryRoot(for: mode)
        let before = try root.namespace(mode)
        try before.write("job", 1)
        let copy = try TemporaryRoot(for: mode)
        try copy.copyTree("n", from: root)
        try copy.pretendReboot()
        if listsFirst { #expect(try copy.space.namespaceNames() == []) }
        #expect(try copy.space.namespace("n").count() == 0)
        #expect(copy.leftovers == [])
        #expect(try before.count() == 1)
    }

    @Test(arguments: [false, true])
    func whatIsDurableIsAdopted(_ listsFirst: Bool) throws {
        let root = try TemporaryRoot(for: .durable)
        let options = NamespaceOptions(mode: .durable, isPersistent: true)
        let before = try root.space.namespace("n", options: options)
        try before.write("job", 1)
        try before.write("job", 2)
        try before.set("cell", "kept")
        #expect(try before.claimBriefly(matching: ["job", 1]).count == 1)
        let copy = try TemporaryRoot(for: .durable)
        // The copy is the disk as a power loss leaves it, with sessions and claims. (Its inodes differ, so its header
        // is stale in that too.)
        try copy.copyTree("n", from: root)
        try copy.pretendReboot()
        if listsFirst { #expect(try copy.space.namespaceNames() == ["n"]) }
        let namespace = try copy.space.namespace("n")
        #expect(namespace.mode == .durable)
        #expect(namespace.isPersistent)
        #expect(try namespace.readAll() == [["job", 1], ["job", 2]])
        #expect(try namespace.get("cell") == "kept")
        #expect(try namespace.status().owners.map(\.pid) == [getpid()])
        try namespace.write("job", 3)
        #expect(try namespace.verify() == [])
        try namespace.setPersistent(false)
        try namespace.leave()
        #expect(try copy.space.namespaceNames() == [])
        #expect(try before.verify() == [])
    }

    /// After a reboot only subscriptions are left of the watchers, although the first session has the number of an
    /// earlier one; a subscription waits for its process.
    @Test func whatWatchedBeforeIsDropped() throws {
        let root = try TemporaryRoot(for: .durable)
        let options = NamespaceOptions(mode: .durable, isPersistent: true)
        let before = try root.space.namespace("n", options: options)
        let changes = try before.changes()
        let token = try before.observe("k") { _ in }
        let subscription = try before.changes(from: .subscription("kept"))
        #expect(try before.status().watchers.map(\.pid) == [getpid(), getpid(), getpid()])
        let copy = try TemporaryRoot(for: .durable)
        try copy.copyTree("n", from: root)
        try copy.pretendReboot()
        let namespace = try copy.space.namespace("n")
        let watchers = try namespace.status().watchers
        #expect(watchers.map(\.pid) == [nil] && watchers.map(\.subscription) == ["kept"])
        // Changes from now on wait for the subscription, which is told of them.
        try namespace.set("k", 1)
        #expect(try namespace.changes(from: .subscription("kept")).now().map(\.key) == ["k"])
        #expect(try namespace.endSubscription("kept"))
        #expect(try namespace.status().watchers == [])
        #expect(try namespace.verify() == [])
        token.cancel()
        withExtendedLifetime((changes, subscription)) {}
    }

    /// A namespace that is durable but not persistent has no owner after a reboot.
    @Test func whatIsDurableAndUnownedGoes() throws {
        let root = try TemporaryRoot(for: .durable)
        let before = try root.namespace(.durable)
        try before.write("job", 1)
        let copy = try TemporaryRoot(for: .durable)
        try copy.copyTree("n", from: root)
        #expect(try copy.space.namespaceNames() == [])
        #expect(copy.leftovers == [])
        #expect(try before.count() == 1)
    }

    /// A copy of a namespace beside the original shares nothing with it.
    @Test func aCopyIsNotTheOriginal() throws {
        let original = try root.space.namespace("n")
        try original.write("kept", 1)
        let copy = try TemporaryRoot()
        try copy.copyTree("n", from: root)
        let other = try copy.space.namespace("n")
        try other.write("other", 1)
        #expect(try original.readAll() == [["kept", 1]])
        #expect(try original.verify() == [])
    }
}
