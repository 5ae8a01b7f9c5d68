import CSpaceShims
import Glibc
import SpaceSystem
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct OwnedDescriptorTests {
    @Test func closesWhenItGoes() throws {
        var ends: [CInt] = [0, 0]
        try #require(space_pipe(&ends) == 0)
        let reader = OwnedDescriptor(adopting: ends[0])
        do { _ = OwnedDescriptor(adopting: ends[1]) }
        var byte: UInt8 = 0
        #expect(space_read(reader.raw, &byte, 1) == 0, "the writer's end is still open somewhere")
    }

    @Test func staysOpenWhenReleased() throws {
        var ends: [CInt] = [0, 0]
        try #require(space_pipe(&ends) == 0)
        let reader = OwnedDescriptor(adopting: ends[0])
        let writer = OwnedDescriptor(adopting: ends[1]).release()
        var byte: UInt8 = 7
        #expect(space_write(writer, &byte, 1) == 1)
        #expect(space_read(reader.raw, &byte, 1) == 1)
        close(writer)
    }

    @Test func closesOnExec() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("file")
        #expect(fcntl(file.raw, F_GETFD) & FD_CLOEXEC != 0)
        let copy = try OwnedDescriptor.duplicate(of: file.raw)
        #expect(fcntl(copy.raw, F_GETFD) & FD_CLOEXEC != 0)
        try copy.setInheritable(true)
        #expect(fcntl(copy.raw, F_GETFD) & FD_CLOEXEC == 0)
    }

    @Test func refusesSymbolicLinksWhereAsked() throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("file")
        try Directory.makeDirectory(at: folder.directory, "folder", mode: 0o700)
        try #require(symlink("file", folder.path("link")) == 0)
        try #require(symlink("folder", folder.path("folder-link")) == 0)
        #expect(throws: Errno.tooManySymbolicLinkLevels) {
            _ = try OwnedDescriptor.openat(directory: folder.directory, "link", flags: O_RDONLY | O_NOFOLLOW)
        }
        #expect(throws: Errno.notDirectory) {
            _ = try OwnedDescriptor.directory(at: folder.directory, "folder-link")
        }
        #expect(throws: Errno.invalidArgument) {
            _ = try OwnedDescriptor.open(folder.path("file\0link"), flags: O_RDONLY)
        }
    }
}

struct FileBytesTests {
    @Test func readsAndWritesByPosition() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("file")
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
        try FileBytes.write(bytes, to: file.raw)
        #expect(try FileBytes.read(file.raw, limit: 40_000) == bytes)
        #expect(try FileBytes.read(file.raw, limit: 1 << 20) == bytes, "the offset has moved")
        #expect(throws: Errno.fileTooLarge) { try FileBytes.read(file.raw, limit: 39_999) }
        try FileBytes.write([1, 2], to: file.raw, at: 10)
        try FileBytes.truncate(file.raw, to: 13)
        #expect(try FileBytes.read(file.raw, limit: 13) == Array(bytes[..<10]) + [1, 2, 12])
        #expect(throws: Errno.invalidArgument) { try FileBytes.write([1], to: file.raw, at: -1) }
        #expect(throws: Errno.invalidArgument) { try FileBytes.write([1], to: file.raw, at: .max) }
    }

    @Test func doesNotHangOnAFIFO() throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.path("fifo"), 0o600) == 0)
        // pread(2) on a FIFO is ESPIPE; opening one for reading would wait for a writer.
        #expect(throws: Errno.illegalSeek) { try FileBytes.read(at: folder.directory, "fifo", limit: 10) }
    }
}

struct MappedFileTests {
    @Test func isShared() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("page", size: 4096)
        let first = try MappedFile(file, length: 4096)
        let second = try MappedFile(file, length: 4096)
        SharedWord32(at: (first.base + 4092).assumingMemoryBound(to: UInt32.self)).store(99)
        #expect(SharedWord32(at: (second.base + 4092).assumingMemoryBound(to: UInt32.self)).load() == 99)
    }

    @Test func refusesAFileThatIsTooShort() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("page", size: 4095)
        #expect(throws: Errno.outOfRange) { try MappedFile(descriptor: file.raw, length: 4096) }
        #expect(throws: Errno.invalidArgument) { try MappedFile(descriptor: file.raw, length: 0) }
        #expect(throws: Errno.invalidArgument) { try MappedFile(descriptor: folder.directory, length: 10) }
    }
}

/// Whether a child can mount a file system of its own, so that a full one affects no other process.
private let canMount: Bool = {
    guard let folder = try? TemporaryFolder(), let probe = try? Probe("tmpfs", folder.path, "check") else {
        return false
    }
    return (try? probe.line())?.hasPrefix("mounted") == true
}()

@Suite(.timeLimit(.minutes(5)))
struct BlocksTests {
    @Test func reservesBlocks() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("file")
        try Blocks.reserve(file.raw, from: 0, to: 9 << 20, keepSize: false)
        #expect(try FileInfo.of(file.raw).size == 9 << 20)
        #expect(try FileInfo.of(file.raw).allocated >= 9 << 20)
        try Blocks.reserve(file.raw, from: 9 << 20, to: 10 << 20, keepSize: true)
        #expect(try FileInfo.of(file.raw).size == 9 << 20)
        #expect(try FileInfo.of(file.raw).allocated >= 10 << 20)
        try Blocks.reserve(file.raw, from: 5, to: 5, keepSize: true)
        #expect(throws: Errno.invalidArgument) { try Blocks.reserve(file.raw, from: 5, to: 4, keepSize: true) }
        #expect(throws: Errno.invalidArgument) { try Blocks.reserve(file.raw, from: -1, to: 4, keepSize: true) }
    }

    @Test func goesOnWhenSignalsInterruptIt() throws {
        var taken: [Range<Int>] = []
        var calls = 0
        var reached = 3
        try Blocks.reserve(to: 10 << 20, reached: &reached) { offset, length in
            calls += 1
            // A signal every millisecond shows it: longer calls never end, and nothing of them remains. The first
            // condition is the watchdog.
            guard calls < 1000 else { return -ECANCELED }
            guard length <= 1 << 20 else { return -EINTR }
            taken.append(offset..<(offset + length))
            return 0
        }
        #expect(reached == 10 << 20)
        #expect(taken.first?.lowerBound == 3)
        #expect(taken.last?.upperBound == 10 << 20)
        #expect(zip(taken, taken.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    @Test func asksForLittleAtATime() throws {
        var longest = 0
        var reached = 0
        #expect(throws: Errno.noSpace) {
            try Blocks.reserve(to: 1 << 30, reached: &reached) { offset, length in
                longest = max(longest, length)
                return offset >= 100 << 20 ? -ENOSPC : 0
            }
        }
        #expect(longest == Blocks.largestPiece)
        #expect(reached == 100 << 20)
    }

    @Test(.enabled(if: canMount, "mounting a tmpfs needs root and a mount namespace"))
    func saysHowFarItCameOnAFullFileSystem() throws {
        let folder = try TemporaryFolder()
        let probe = try Probe("tmpfs", folder.path, "too-much")
        #expect(try probe.line() == "error \(ENOSPC) after \(4 << 20) free \(2 << 20)")
    }

    @Test(.enabled(if: canMount, "mounting a tmpfs needs root and a mount namespace"))
    func aHoleOnAFullFileSystemCountsAsCutOff() throws {
        let folder = try TemporaryFolder()
        let probe = try Probe("tmpfs", folder.path, "hole")
        #expect(try probe.line() == "full")
        #expect(try probe.line() == "cut")
        #expect(probe.reap() == .exited(0))
    }

    @Test(.enabled(if: canMount, "mounting a tmpfs needs root and a mount namespace"))
    func reservedBlocksCanBeWrittenOnAFullFileSystem() throws {
        let folder = try TemporaryFolder()
        let probe = try Probe("tmpfs", folder.path, "reserved")
        #expect(try probe.line() == "full")
        #expect(try probe.line() == "written")
        #expect(probe.reap() == .exited(0))
    }
}

struct FileSystemTests {
    @Test func knowsMemoryFromDisk() throws {
        let memory = try TemporaryFolder(in: "/dev/shm")
        #expect(try FileSystemKind.of(memory.directory) == .tmpfs)
        let proc = try OwnedDescriptor.directory("/proc")
        #expect(try FileSystemKind.of(proc.raw) == .other(0x9fa0))
    }

    @Test func countsRoom() throws {
        let memory = try TemporaryFolder(in: "/dev/shm")
        var status = statvfs()
        try #require(fstatvfs(memory.directory, &status) == 0)
        let room = try FileSystemRoom.of(memory.directory)
        if let total = room.total, let free = room.free {
            #expect(total == UInt64(status.f_blocks) * UInt64(status.f_frsize))
            #expect(free <= total)
        } else {
            #expect(status.f_blocks == 0)
        }
    }
}
