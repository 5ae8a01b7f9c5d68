import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// A process that has a namespace open keeps programs that clean folders by age from it.
@Suite(.blocking, .timeLimit(.minutes(2)))
struct FolderLockTests {
    let root: TemporaryRoot

    init() throws { root = try TemporaryRoot(in: "/var/tmp") }

    /// Whether systemd-tmpfiles would clean a namespace's folder: it first locks it in this way.
    private func mayBeCleaned(_ name: String) throws -> Bool {
        let folder = try OwnedDescriptor.open("\(root.path)/\(name)", flags: O_RDONLY | O_DIRECTORY)
        return try FileLock.tryWhole(folder.raw)
    }

    /// An agent that waits in a persistent namespace.
    private func waiter() throws -> Agent {
        let agent = try Agent(root, "n", "mode=guarded persistent=1")
        try agent.send("take-wait 60000 [\"job\"]")
        #expect(try agent.line() == "waiting")
        return agent
    }

    @Test func aNamespaceIsLockedAsLongAsAProcessHasItOpen() throws {
        let (first, second) = (try waiter(), try waiter())
        #expect(try !mayBeCleaned("n"))
        try first.kill()
        #expect(try !mayBeCleaned("n"))
        try second.kill()
        #expect(try mayBeCleaned("n"))

        let namespace = try root.space.namespace("n")
        #expect(try !mayBeCleaned("n"))
        try namespace.leave()
        #expect(try mayBeCleaned("n"))
        withExtendedLifetime(namespace) {}
    }

    /// A child made by fork that keeps its parent's descriptors keeps no lock of a namespace that its parent has left.
    @Test func aForkedChildKeepsNoLock() throws {
        let parent = try Agent(root, "n", "mode=guarded persistent=1")
        let child = try #require(Int32(try parent.run("fork-holding")))
        defer { kill(child, SIGKILL) }
        #expect(try !mayBeCleaned("n"))
        try parent.run("drop")
        #expect(try mayBeCleaned("n"))
    }

    /// In /dev/shm, which nothing cleans by age, a namespace costs no descriptor more.
    @Test func inSharedMemoryNothingIsLocked() throws {
        let memory = try TemporaryRoot()
        let namespace = try memory.space.namespace("n")
        let folder = try OwnedDescriptor.open("\(memory.path)/n", flags: O_RDONLY | O_DIRECTORY)
        #expect(try FileLock.tryWhole(folder.raw))
        withExtendedLifetime(namespace) {}
    }

    private static let cleaner = "/usr/bin/systemd-tmpfiles"

    /// The program itself, told that everything is old, leaves a namespace in use alone, and removes one that is not.
    @Test(.enabled(if: access(Self.cleaner, X_OK) == 0))
    func theCleanerLeavesANamespaceInUseAlone() throws {
        do {
            try root.space.namespace("unused", options: NamespaceOptions(mode: .guarded, isPersistent: true)).write(1)
        }
        let agent = try waiter()
        let before = root.entries(of: "n")
        let elsewhere = try TemporaryRoot()
        let settings = "\(elsewhere.path)/tmpfiles.conf"
        // An age of 0: everything is old enough.
        let file = try OwnedDescriptor.open(settings, flags: O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        try FileBytes.write(Array("d \(root.path) 0700 - - 0\n".utf8), to: file.raw)
        #expect(try Self.run(Self.cleaner, "--clean", settings) == 0)
        #expect(root.entries(of: "unused").isEmpty, "the cleaner has removed nothing at all")
        #expect(root.entries(of: "n") == before)
        try root.space.namespace("n").write("job")
        #expect(try agent.line()?.hasPrefix("ok") == true)
    }

    /// Runs a program, and returns its status.
    private static func run(_ words: String...) throws -> Int32 {
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var (child, status): (pid_t, Int32) = (0, 0)
        let error = posix_spawn(&child, words[0], nil, nil, &arguments, environ)
        guard error == 0 else { throw TestFailure("posix_spawn \(words[0]): errno \(error)") }
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }
}
