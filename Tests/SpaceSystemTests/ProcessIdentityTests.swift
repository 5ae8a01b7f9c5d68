import Glibc
import SpaceSystem
import SystemPackage
import Testing

/// Whether a child can make a PID namespace of its own.
private let canUnshare: Bool = {
    guard let probe = try? Probe("foreign-proc") else { return false }
    return (try? probe.line())?.hasPrefix("another") == true
}()

@Suite(.timeLimit(.minutes(5)))
struct ProcessIdentityTests {
    @Test func knowsItself() throws {
        let me = try ProcessIdentity.current
        #expect(me.pid == getpid())
        #expect(ProcessIdentity.of(pid: me.pid) == me)
        #expect(me.life == .alive)
        #expect(ProcessIdentity.parent() == getppid())
    }

    @Test func seesAChildLiveAndDie() throws {
        let child = try Probe("idle")
        #expect(try child.line() == "ready")
        let identity = try #require(ProcessIdentity.of(pid: child.pid))
        #expect(identity.life == .alive)
        try child.stop()
        #expect(ProcessIdentity.state(of: child.pid) == "T")
        #expect(identity.life == .alive, "stopped isn't dead")
        child.resume()

        let descriptor = try PIDFD(pid: child.pid)
        #expect(descriptor.hasExited == false)
        #expect(kill(child.pid, SIGKILL) == 0)
        // The process counts as dead before its parent has reaped it: the PID is still taken, but the process is over.
        #expect(try eventually { descriptor.hasExited })
        #expect(ProcessIdentity.state(of: child.pid) == "Z")
        #expect(identity.life == .dead)
        #expect(child.reap() == .killed(by: SIGKILL))
        #expect(identity.life == .dead)
        #expect(descriptor.hasExited == true)
        #expect(throws: Errno.noSuchProcess) { try Self.open(child.pid) }
    }

    @Test func aReusedPIDIsAnotherProcess() throws {
        let me = try ProcessIdentity.current
        #expect(ProcessIdentity.life(pid: me.pid, startTime: me.startTime + 1) == .dead)
        #expect(ProcessIdentity.life(pid: me.pid, startTime: 0) == .dead)
    }

    @Test(arguments: [0, -1, -7, Int32.min]) func noProcessHasSuchANumber(pid: Int32) {
        #expect(ProcessIdentity.life(pid: pid, startTime: 1) == .dead)
        #expect(ProcessIdentity.of(pid: pid) == nil)
    }

    @Test func livesOnWithoutItsMainThread() throws {
        let child = try Probe("end-main-thread")
        #expect(try child.line() == "main thread ended")
        let identity = try #require(ProcessIdentity.of(pid: child.pid))
        // /proc alone would show the process as dead.
        #expect(ProcessIdentity.state(of: child.pid) == "Z")
        #expect(identity.life == .alive)
        try child.order()
        #expect(child.reap() == .exited(0))
        #expect(identity.life == .dead)
    }

    @Test func aThreadOfAnotherProcessIsNotTheProcessMeant() throws {
        let child = try Probe("end-main-thread")
        #expect(try child.line() == "main thread ended")
        let threads = try OwnedDescriptor.directory(FilePath("/proc/\(child.pid)/task"))
        let names = try Directory.list(threads.raw).compactMap { Int32($0) }
        let found = names.first { $0 != child.pid }
        let other = try #require(found)
        // The number now belongs to a thread, so a process that had it before is gone.
        #expect(ProcessIdentity.life(pid: other, startTime: 1) == .dead)
    }

    @Test func readsPastAHostileCommandName() throws {
        let folder = try TemporaryFolder()
        let name = ") R 1 1 (x)"
        try #require(symlink(try Probe.path, folder.path(name)) == 0)
        let child = try Probe("idle", program: folder.path(name))
        #expect(try child.line() == "ready")
        #expect(ProcessIdentity.commandName(of: child.pid) == name)
        #expect(ProcessIdentity.of(pid: child.pid)?.life == .alive)
        #expect(try eventually { ProcessIdentity.state(of: child.pid) == "S" })
    }

    @Test(.enabled(if: canUnshare, "a PID namespace of one's own needs root"))
    func distrustsAProcOfAnotherNamespace() throws {
        let outer = try Probe("foreign-proc")
        #expect(try outer.line() == "another process shown: true", "the trap isn't there, so this shows nothing")
        #expect(try outer.line() == "trusted: false")
        #expect(try outer.line() == "identity: none")
        #expect(try outer.line() == "life: alive")
    }

    @Test func parsesStatFromTheLastParenthesis() {
        let rest = "S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 98765 1 2\n"
        let status = ProcFS.parse(Array("42 (a) b (c) \(rest)".utf8))
        #expect(status?.command == "a) b (c")
        #expect(status?.state == "S")
        #expect(status?.startTime == 98_765)
    }

    @Test(arguments: [
        "", "42", "42 (x", "42 )x(", "42 (x)", "42 (x) S 1 2", "1 (x) SS 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 9",
        "1 (x) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 -9", "1 (x) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 +9",
        "1 (x) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 99999999999999999999999",
    ])
    func refusesStatThatIsNone(text: String) {
        #expect(ProcFS.parse(Array(text.utf8)) == nil)
    }

    @Test func readsWhoseNumbersProcShows() {
        #expect(ProcFS.isOnlyNumber(7, in: Array("Name:\tx\nPid:\t7\nNSpid:\t7\n".utf8)))
        #expect(!ProcFS.isOnlyNumber(7, in: Array("Name:\tx\nPid:\t70\nNSpid:\t70\t7\n".utf8)))
        #expect(!ProcFS.isOnlyNumber(7, in: Array("Name:\tx\nPid:\t7\nNSpid:\t7\t7\n".utf8)))
        #expect(ProcFS.isOnlyNumber(7, in: Array("Name:\tx\nPid:\t7\n".utf8)))
        #expect(!ProcFS.isOnlyNumber(7, in: []))
        #expect(ProcFS.showsOurNamespace)
    }

    /// Macros can't take values that aren't copyable.
    private static func open(_ pid: Int32) throws(Errno) {
        _ = try PIDFD(pid: pid)
    }
}

struct SystemIdentityTests {
    @Test func agreesWithTheKernel() throws {
        let id = try SystemIdentity.bootID()
        #expect(try SystemIdentity.bootID() == id)
        #expect(BootID(bytes: id.bytes) == id)
        #expect(try SystemIdentity.pidNamespace() != 0)
        #expect(try SystemIdentity.pidNamespace() == SystemIdentity.pidNamespace(path: "/proc/\(getpid())/ns/pid"))
        #expect(try SystemIdentity.timeNamespace(path: "/nonexistent") == 0)
    }

    @Test func readsAnotherBootFromAnotherFile() throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("boot")
        try FileBytes.write(Array("00112233-4455-6677-8899-aAbBcCdDeEfF\n".utf8), to: file.raw)
        let id = try SystemIdentity.bootID(path: folder.path("boot"))
        #expect(id == BootID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF))
        #expect(id.bytes == (0..<16).map { UInt8($0 * 0x11) })
    }

    @Test(arguments: [
        "", "\n", "00112233-4455-6677-8899-aabbccddeef", "00112233-4455-6677-8899-aabbccddeeffa",
        "00112233a4455-6677-8899-aabbccddeeff", "0011223g-4455-6677-8899-aabbccddeeff",
        String(repeating: "-", count: 36),
    ])
    func refusesWhatIsNoBootID(text: String) throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("boot")
        try FileBytes.write(Array(text.utf8), to: file.raw)
        #expect(throws: Errno.illegalByteSequence) { try SystemIdentity.bootID(path: folder.path("boot")) }
        #expect(throws: Errno.noSuchFileOrDirectory) { try SystemIdentity.bootID(path: folder.path("none")) }
    }

    @Test func refusesAWrongNumberOfBytes() {
        #expect(BootID(bytes: [UInt8](repeating: 0, count: 15)) == nil)
        #expect(BootID(bytes: [UInt8](repeating: 0, count: 17)) == nil)
    }
}
