import Glibc
import SpaceSystem
import SystemPackage
import Testing

/// Opening files of a folder that others may write in.
@Suite
struct TrustedFolderTests {
    private let folder: TemporaryFolder
    private let trusted: TrustedFolder

    init() throws {
        folder = try TemporaryFolder()
        trusted = TrustedFolder(folder.directory, try FileInfo.of(folder.directory))
    }

    private func make(_ name: String) throws -> OwnedDescriptor {
        try OwnedDescriptor.openat(directory: folder.directory, name, flags: O_RDWR | O_CREAT, mode: 0o600)
    }

    private func refusal(_ name: String, _ flags: CInt) -> TrustedFolder.Refusal? {
        do throws(TrustedFolder.Refusal) {
            _ = try trusted.open(name, flags: flags)
            return nil
        } catch {
            return error
        }
    }

    @Test func opensWhatIsItsOwn() throws {
        _ = try make("file")
        #expect(refusal("file", O_RDWR) == nil)
        #expect(refusal("new", O_RDWR | O_CREAT | O_EXCL) == nil)
        #expect(refusal("missing", O_RDWR) == .system(.noSuchFileOrDirectory))
    }

    /// A FIFO that is opened like a file would make its opener wait.
    @Test(arguments: [O_RDONLY, O_WRONLY, O_RDWR, O_RDWR | O_CREAT])
    func refusesOtherKindsOfFile(_ flags: CInt) throws {
        _ = try make("file")
        try #require(symlink("file", folder.path("link")) == 0)
        try #require(symlink("made", folder.path("dangling")) == 0)
        try #require(mkfifo(folder.path("fifo"), 0o600) == 0)
        try #require(mkdir(folder.path("folder"), 0o700) == 0)
        try #require(link(folder.path("file"), folder.path("second")) == 0)
        #expect(refusal("link", flags) == .kind(.symbolicLink))
        #expect(refusal("dangling", flags) == .kind(.symbolicLink))
        #expect(refusal("fifo", flags) == .kind(.fifo))
        #expect(refusal("folder", flags) == .kind(.directory))
        #expect(refusal("second", flags) == .hardLink)
        #expect(access(folder.path("made"), F_OK) != 0)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func refusesAnothersFileUnlessItIsTheGroups() throws {
        let file = try make("file")
        try #require(fchown(file.raw, 12345, 54321) == 0)
        #expect(refusal("file", O_RDONLY) == .foreign(owner: 12345))
        try #require(chown(folder.path("."), getuid(), 54321) == 0 && chmod(folder.path("."), 0o2770) == 0)
        let shared = TrustedFolder(folder.directory, try FileInfo.of(folder.directory))
        #expect(throws: TrustedFolder.Refusal.foreign(owner: 12345)) { _ = try shared.find("file") }
        try #require(fchmod(file.raw, 0o660) == 0)
        _ = try shared.find("file")
        #expect(refusal("file", O_RDONLY) == .foreign(owner: 12345))
    }

    /// Closing any descriptor of a file releases its POSIX locks (fcntl(2)); looking a file up without opening it does
    /// not.
    @Test func findingDropsNoLock() throws {
        let file = try make("file")
        let other = try make("file")
        var lock = flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 1, l_pid: 0)
        try #require(fcntl(file.raw, F_SETLK, &lock) == 0)
        try #require(try FileLock.isHeldByAnother(other.raw))
        _ = try trusted.find("file")
        #expect(try FileLock.isHeldByAnother(other.raw))
        _ = try trusted.open("file", flags: O_RDONLY)
        #expect(try !FileLock.isHeldByAnother(other.raw))
    }
}
