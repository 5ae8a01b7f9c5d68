import Glibc
import SpaceSystem
import SystemPackage
import Testing

struct DirectoryTests {
    let folder: TemporaryFolder
    var directory: CInt { folder.directory }

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func renamesWithoutReplacing() throws {
        try Directory.makeDirectory(at: directory, "a", mode: 0o700)
        try Directory.makeDirectory(at: directory, "b", mode: 0o700)
        let b = try Directory.info(at: directory, "b").inode
        #expect(throws: Errno.fileExists) {
            try Directory.renameNoReplace(from: directory, "a", to: directory, "b")
        }
        #expect(try Directory.info(at: directory, "b").inode == b)
        try Directory.renameNoReplace(from: directory, "a", to: directory, "c")
        // The case that it protects from: an empty directory is silently replaced otherwise.
        try Directory.rename(from: directory, "c", to: directory, "b")
        #expect(try Directory.info(at: directory, "b").inode != b)
        #expect(try Directory.list(directory) == ["b"])
    }

    @Test func oneOfManyRenamesSucceeds() async throws {
        let directory = directory
        for index in 0..<8 { try Directory.makeDirectory(at: directory, "from\(index)", mode: 0o700) }
        let winners = await withTaskGroup(of: Bool.self) { group in
            for index in 0..<8 {
                group.addTask {
                    (try? Directory.renameNoReplace(from: directory, "from\(index)", to: directory, "to")) != nil
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(winners == 1)
        #expect(try Directory.list(directory).count == 8)
    }

    @Test func givesExactlyTheModeAskedFor() throws {
        // A usual umask would remove the group's right to write.
        try Directory.makeDirectory(at: directory, "group", mode: 0o2770)
        let info = try Directory.info(at: directory, "group")
        #expect(info.mode == 0o2770)
        #expect(info.kind == .directory)
        #expect(info.owner == geteuid())
        #expect(throws: Errno.fileExists) { try Directory.makeDirectory(at: directory, "group", mode: 0o700) }
    }

    @Test(arguments: ["", ".", "..", "a/b", "/", "a\0b"]) func refusesWhatIsNoName(name: String) throws {
        #expect(throws: Errno.invalidArgument) { try Directory.makeDirectory(at: directory, name, mode: 0o700) }
        #expect(throws: Errno.invalidArgument) { try Directory.removeTree(at: directory, name) }
        #expect(throws: Errno.invalidArgument) { try Directory.unlink(at: directory, name) }
        #expect(throws: Errno.invalidArgument) { try Directory.rename(from: directory, "x", to: directory, name) }
        #expect(throws: Errno.invalidArgument) {
            try Directory.renameNoReplace(from: directory, name, to: directory, "x")
        }
    }

    @Test func listsWhatIsUTF8() throws {
        _ = try folder.file("plain")
        _ = try folder.file("é ☃")
        let bad: [CChar] = [98, -1, -2, 0]
        try #require(mknodat(directory, bad, S_IFREG | 0o600, 0) == 0)
        #expect(try Directory.list(directory).sorted() == ["plain", "é ☃"])
        #expect(try Directory.list(directory).count == 2, "a second listing starts at the beginning again")
    }

    @Test func describesFiles() throws {
        let file = try folder.file("file")
        try FileBytes.truncate(file.raw, to: 1 << 20)
        try #require(symlink("file", folder.path("link")) == 0)
        try #require(mkfifo(folder.path("fifo"), 0o600) == 0)
        let info = try FileInfo.of(file.raw)
        #expect(info.kind == .regular)
        #expect(info.size == 1 << 20)
        #expect(info.allocated == 0, "a hole")
        #expect(info.linkCount == 1)
        #expect(info == (try Directory.info(at: directory, "file")))
        #expect(try Directory.info(at: directory, "link").kind == .symbolicLink)
        #expect(try Directory.info(at: directory, "fifo").kind == .fifo)
        #expect(throws: Errno.noSuchFileOrDirectory) { try Directory.info(at: directory, "none") }
        #expect(try Directory.unlink(at: directory, "file"))
        #expect(try !Directory.unlink(at: directory, "file"))
        #expect(try FileInfo.of(file.raw).linkCount == 0)
    }
}

struct RemoveTreeTests {
    let folder: TemporaryFolder
    var directory: CInt { folder.directory }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func make(_ path: String...) throws {
        for path in path {
            if path.hasSuffix("/") {
                try #require(mkdir(folder.path(path), 0o700) == 0)
            } else {
                _ = try OwnedDescriptor.open(folder.path(path), flags: O_CREAT | O_RDWR, mode: 0o600)
            }
        }
    }

    @Test func removesEverythingAndCanBeRepeated() throws {
        try make("tree/", "tree/file", "tree/sub/", "tree/sub/file", "tree/sub/sub/", "other")
        try Directory.removeTree(at: directory, "tree")
        #expect(try Directory.list(directory) == ["other"])
        try Directory.removeTree(at: directory, "tree")
        try Directory.removeTree(at: directory, "other")
        #expect(try Directory.list(directory).isEmpty)
    }

    @Test func followsNoSymbolicLink() throws {
        try make("outside/", "outside/precious", "tree/", "tree/sub/")
        try #require(symlink("../outside", folder.path("tree/relative")) == 0)
        try #require(symlink(folder.path("outside"), folder.path("tree/sub/absolute")) == 0)
        try #require(symlink("nowhere", folder.path("tree/dangling")) == 0)
        try #require(symlink("loop", folder.path("tree/loop")) == 0)
        try #require(symlink("outside", folder.path("itself")) == 0)
        try Directory.removeTree(at: directory, "tree")
        try Directory.removeTree(at: directory, "itself")
        #expect(try Directory.list(directory) == ["outside"])
        #expect(throws: Never.self) { try Directory.info(at: directory, "outside") }
        let outside = try OwnedDescriptor.directory(at: directory, "outside")
        #expect(try Directory.list(outside.raw) == ["precious"])
    }

    @Test func removesNamesThatAreNotUTF8() throws {
        try make("tree/")
        let bad: [CChar] = [98, -1, -2, 0]
        let tree = try OwnedDescriptor.directory(at: directory, "tree")
        try #require(mknodat(tree.raw, bad, S_IFREG | 0o600, 0) == 0)
        try Directory.removeTree(at: directory, "tree")
        #expect(try Directory.list(directory).isEmpty)
    }

    @Test func severalAtOnceAllSucceed() async throws {
        for index in 0..<20 { try make("tree\(index)/", "tree\(index)/sub/", "tree\(index)/sub/file") }
        let directory = directory
        let failures = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<20).count { (try? Directory.removeTree(at: directory, "tree\($0)")) == nil }
                }
            }
            return await group.reduce(0, +)
        }
        #expect(failures == 0)
        #expect(try Directory.list(directory).isEmpty)
    }

    @Test func refusesToGoTooDeep() throws {
        var path = "tree"
        try #require(mkdir(folder.path(path), 0o700) == 0)
        for _ in 0..<80 {
            path += "/d"
            try #require(mkdir(folder.path(path), 0o700) == 0)
        }
        #expect(throws: Errno.tooManySymbolicLinkLevels) { try Directory.removeTree(at: directory, "tree") }
        // From further down a removal reaches the end; then the rest can be removed, too.
        let half = try OwnedDescriptor.directory(FilePath(folder.path("tree" + String(repeating: "/d", count: 40))))
        try Directory.removeTree(at: half.raw, "d")
        try Directory.removeTree(at: directory, "tree")
        #expect(try Directory.list(directory).isEmpty)
    }
}
