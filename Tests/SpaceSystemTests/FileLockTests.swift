import Glibc
import SpaceSystem
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct FileLockTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func excludesASecondOpen() throws {
        let first = try folder.file("lock")
        let second = try folder.file("lock")
        #expect(try FileLock.tryExclusive(first.raw))
        #expect(try FileLock.tryExclusive(first.raw), "one's own lock is no conflict")
        #expect(try !FileLock.tryExclusive(second.raw))
        try FileLock.unlock(first.raw)
        #expect(try FileLock.tryExclusive(second.raw))
    }

    @Test func locksSingleBytes() throws {
        let first = try folder.file("lock")
        let second = try folder.file("lock")
        #expect(try FileLock.tryExclusive(first.raw, byte: 0))
        #expect(try FileLock.tryExclusive(second.raw, byte: 1))
        #expect(try !FileLock.tryExclusive(second.raw, byte: 0))
        #expect(try !FileLock.tryExclusive(second.raw))
        #expect(try FileLock.isHeldByAnother(first.raw, byte: 1))
        #expect(try !FileLock.isHeldByAnother(first.raw, byte: 2))
        #expect(throws: Errno.invalidArgument) { try FileLock.tryExclusive(first.raw, byte: -1) }
    }

    @Test func sharesAByteAndBarsTheWholeFile() throws {
        let first = try folder.file("lock")
        let second = try folder.file("lock")
        let whole = try folder.file("lock")
        #expect(try FileLock.tryShared(first.raw, byte: 0))
        #expect(try FileLock.tryShared(second.raw, byte: 0))
        #expect(try !FileLock.tryExclusive(whole.raw))
        #expect(try !FileLock.isHeldExclusivelyByAnother(whole.raw, byte: 0))
        try FileLock.unlock(first.raw)
        #expect(try !FileLock.tryExclusive(whole.raw))
        try FileLock.unlock(second.raw)
        #expect(try FileLock.tryExclusive(whole.raw))
        #expect(try !FileLock.tryShared(first.raw, byte: 0))
        #expect(try FileLock.isHeldExclusivelyByAnother(first.raw, byte: 0))
    }

    @Test func listsWhatOthersHold() throws {
        let asker = try folder.file("lock")
        let first = try folder.file("lock")
        let second = try folder.file("lock")
        #expect(try FileLock.heldByOthers(asker.raw, from: 0, limit: 10) == [])
        for byte in [1, 5, 1 << 62] { #expect(try FileLock.tryExclusive(first.raw, byte: byte)) }
        for byte in [3, 9] { #expect(try FileLock.tryExclusive(second.raw, byte: byte)) }
        #expect(try FileLock.tryExclusive(asker.raw, byte: 7))
        let found = try FileLock.heldByOthers(asker.raw, from: 2, limit: 10)
        #expect(Set(found) == [3..<4, 5..<6, 9..<10, 1 << 62..<(1 << 62) + 1])
        #expect(try FileLock.heldByOthers(asker.raw, from: 2, limit: 2).count == 2)
    }

    @Test func testingAcquiresNothing() throws {
        let owner = try folder.file("lock")
        let tester = try folder.file("lock")
        #expect(try !FileLock.isHeldByAnother(tester.raw))
        #expect(try !FileLock.isHeldByAnother(owner.raw), "the tester holds it now")
        #expect(try FileLock.tryExclusive(owner.raw))
        #expect(try FileLock.isHeldByAnother(tester.raw))
        #expect(try !FileLock.isHeldByAnother(owner.raw), "one's own lock is nobody else's")
    }

    @Test func needsADescriptorForWriting() throws {
        _ = try folder.file("lock")
        let reader = try OwnedDescriptor.openat(directory: folder.directory, "lock", flags: O_RDONLY)
        #expect(throws: Errno.badFileDescriptor) { try FileLock.tryExclusive(reader.raw) }
    }

    @Test func vanishesWithAKilledProcess() throws {
        let file = try folder.file("lock")
        let holder = try Probe("hold-lock", folder.path("lock"))
        #expect(try holder.line() == "acquired")
        #expect(try FileLock.isHeldByAnother(file.raw))
        #expect(try !FileLock.tryExclusive(file.raw))
        try holder.killAndReap()
        #expect(try !FileLock.isHeldByAnother(file.raw))
        #expect(try FileLock.tryExclusive(file.raw))
    }

    @Test func survivesAChildThatInheritedItAndEnded() throws {
        let file = try folder.file("lock")
        let tester = try folder.file("lock")
        #expect(try FileLock.tryExclusive(file.raw))
        let child = try Probe("idle", inheriting: [file.raw])
        #expect(try child.line() == "ready")
        try child.killAndReap()
        #expect(try FileLock.isHeldByAnother(tester.raw))
    }

    @Test func outlivesItsOwnerInAChildThatInheritedIt() throws {
        let tester = try folder.file("lock")
        let child: Probe
        do {
            let file = try folder.file("lock")
            #expect(try FileLock.tryExclusive(file.raw))
            child = try Probe("idle", inheriting: [file.raw])
        }
        #expect(try child.line() == "ready")
        // So a lock that is held doesn't yet show its owner to be alive.
        #expect(try FileLock.isHeldByAnother(tester.raw))
        try child.killAndReap()
        #expect(try eventually { try !FileLock.isHeldByAnother(tester.raw) })
    }

    @Test func isNotInheritedThroughExecUnasked() throws {
        let tester = try folder.file("lock")
        let child: Probe
        do {
            let file = try folder.file("lock")
            #expect(try FileLock.tryExclusive(file.raw))
            child = try Probe("idle")
        }
        #expect(try child.line() == "ready")
        // Not at once: a child that another test is starting just now has a copy until it calls exec.
        #expect(try eventually { try !FileLock.isHeldByAnother(tester.raw) })
    }

    @Test func staysWhenAnotherDescriptorOfTheFileIsClosed() throws {
        let tester = try folder.file("lock")
        let file = try folder.file("lock")

        // The older kind of lock is released as soon as some other descriptor of the file is closed.
        var older = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
        try #require(fcntl(file.raw, F_SETLK, &older) == 0)
        #expect(try FileLock.isHeldByAnother(tester.raw))
        _ = try folder.file("lock")
        #expect(try !FileLock.isHeldByAnother(tester.raw))

        #expect(try FileLock.tryExclusive(file.raw))
        _ = try folder.file("lock")
        #expect(try FileLock.isHeldByAnother(tester.raw))
    }
}
