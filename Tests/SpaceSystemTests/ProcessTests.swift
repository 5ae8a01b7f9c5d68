import Glibc
import SpaceSystem
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ForkGuardTests {
    @Test func differsInEveryForkedChild() throws {
        let probe = try Probe("fork")
        let numbers = try #require(try probe.line()).split(separator: " ").map { UInt32($0) }
        try #require(numbers.count == 4)
        #expect(numbers[0] == numbers[3], "a fork changes nothing for the parent")
        #expect(numbers[1] != numbers[0], "fork(3)")
        // _Fork(3) runs no pthread_atfork(3) handlers.
        #expect(numbers[2] != numbers[0], "_Fork(3)")
        #expect(!numbers.contains(0))
        #expect(ForkGuard.generation == ForkGuard.generation)
    }
}

@Suite(.timeLimit(.minutes(5)))
struct ParentDeathTests {
    @Test func killsTheChildOfAKilledParent() throws {
        let parent = try Probe("parent")
        let words = try #require(try parent.line()).split(separator: " ")
        try #require(words.first == "armed")
        let pid = try #require(words.last.flatMap { Int32($0) })
        let child = try PIDFD(pid: pid)
        #expect(child.hasExited == false)
        try parent.killAndReap()
        let gone = try eventually { child.hasExited }
        if !gone { kill(pid, SIGKILL) }
        #expect(gone)
    }

    @Test func noticesAParentThatIsGoneAlready() {
        // Signal 0 asks for no signal.
        #expect(throws: Errno.noSuchProcess) { try ParentDeath.arm(signal: 0, parent: getpid()) }
        #expect(throws: Never.self) { try ParentDeath.arm(signal: 0, parent: getppid()) }
        #expect(throws: Errno.invalidArgument) { try ParentDeath.arm(signal: 1000, parent: getppid()) }
    }
}

struct ResourceLimitsTests {
    @Test func agreesWithTheShell() throws {
        for (option, limit) in [
            ("-f", ResourceLimits.fileSize), ("-n", ResourceLimits.openFiles), ("-v", ResourceLimits.addressSpace),
        ] {
            let shell = try Probe("-c", "ulimit \(option)", program: "/bin/sh")
            let line = try #require(try shell.line())
            // ulimit counts files in 512-byte blocks and address space in KiB.
            let unit: UInt64 = option == "-f" ? 512 : option == "-v" ? 1024 : 1
            #expect(line == (limit.map { String($0 / unit) } ?? "unlimited"))
        }
    }

    @Test func seesALimit() throws {
        // Opening fails at a limit, so the child sets it: other tests must not run into this one.
        let shell = try Probe("-c", "ulimit -n 77; exec cat /proc/self/limits", program: "/bin/sh")
        var found = false
        while let line = try shell.line() { found = found || line.hasPrefix("Max open files            77") }
        #expect(found)
    }
}
