import Glibc
import SpaceSystem
import SpaceTestSupport
import SystemPackage

/// Children that are forked and not started anew: a worker costs a fraction of a millisecond.
///
/// This is sound because a process either forks and waits, with one thread and nothing of SharedSpace open, or works. A
/// process that works does so on a new thread beside the one that it was forked with, and forks no more.
///
/// The new thread is needed because Swift's locks are the kernel's (futex(2), FUTEX_LOCK_PI), which knows a holder by
/// its thread's number, and the runtime asks for that number once a thread (swift: ulock_get_tid in
/// Threading/Impl/Linux/ulock.h, _swift_stdlib_gettid in _SynchronizationShims.h). A fork copies the answer: the
/// child's thread goes by its parent's number. When another thread comes to wait for a lock that this thread holds, the
/// kernel refuses to let it unlock (EPERM): the runtime's own locks, by which globals and generic types are made, try
/// for ever, and a `Mutex` traps. A new thread asks anew.
enum Process {
    private static func fork() throws -> pid_t {
        // Swift's Glibc hides fork(2), for good reasons that don't hold here.
        guard let symbol = dlsym(nil, "fork") else { throw UsageError(text: "there is no fork in libc") }
        let child = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)()
        guard child >= 0 else { throw UsageError(text: "fork: errno \(errno)") }
        if child == 0 { try? ParentDeath.arm(signal: SIGKILL, parent: getppid()) }
        return child
    }

    /// Forks a child that runs `body`, in which it forks and waits, and exits with the result of `body`.
    static func start(_ body: () -> CInt) throws -> pid_t {
        let child = try fork()
        if child == 0 { _exit(body()) }
        return child
    }

    /// Forks a child beside other threads, which the child does not have: it may do very little.
    static func startBesideThreads(_ body: () -> CInt) throws -> pid_t { try start(body) }

    /// Forks children, each of which supervises workers: it runs `supervise` with its number, in which it forks and
    /// waits.
    static func supervisors(_ count: Int, _ supervise: (Int) -> Void) throws -> [pid_t] {
        try (0..<count).map { number in
            try start {
                supervise(number)
                return 0
            }
        }
    }

    /// Forks a child that works, as ``work(_:)`` does.
    static func startWorker(_ body: () throws -> Void) throws -> pid_t {
        try start { work(body) }
    }

    /// Works to the end of this process, which exits with 0, or with 1 when `body` throws; it forks no more.
    ///
    /// The thread that it was forked with stays, for its own children may be bound to it (prctl(2), PR_SET_PDEATHSIG).
    static func work(_ body: () throws -> Void) -> Never {
        withoutActuallyEscaping(body) { body in
            // One thread hands these to the other, which alone goes on.
            nonisolated(unsafe) let body = body
            do {
                try DetachedThread.start {
                    do {
                        try body()
                        _exit(0)
                    } catch {
                        note("a process failed: \(error)")
                        _exit(1)
                    }
                }
            } catch {
                note("a process can't work: \(error)")
                _exit(1)
            }
            while true { pause() }
        }
    }

    /// Starts a program as a child, with no input, and its output and errors at the end of a file.
    ///
    /// `network`: The PID of a process whose network the program gets.
    static func startProgram(
        _ path: String,
        _ arguments: [String],
        environment: [String],
        log: String,
        network: pid_t? = nil
    ) throws -> pid_t {
        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        return try start {
            let nothing = open("/dev/null", O_RDONLY)
            let file = open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            guard dup2(nothing, 0) == 0, dup2(file, 1) == 1, dup2(file, 2) == 2 else { return 126 }
            if let network, !KernelCall.enterNetwork(of: network) { return 126 }
            closefrom(3)
            execve(path, words, variables)
            return 127
        }
    }

    /// Runs a script of the shell to its end.
    ///
    /// `network`: The PID of a process whose network the script gets.
    /// Returns: Whether its status is 0.
    static func runScript(_ script: String, log: String = "/dev/null", network: pid_t? = nil) -> Bool {
        let path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        guard
            let child = try? startProgram(
                "/bin/sh",
                ["-c", script],
                environment: [path],
                log: log,
                network: network
            )
        else { return false }
        return wait(child) == .exited(0)
    }

    /// Starts a child under a chosen PID, which sleeps until it is killed.
    ///
    /// Throws: An error where that is not permitted (clone3(2): it takes CAP_CHECKPOINT_RESTORE), or the PID is taken.
    static func startSleeper(pid: pid_t) throws(Errno) {
        // Swift's Glibc hides syscall(2), and glibc has no wrapper of clone3(2).
        guard let symbol = dlsym(nil, "syscall") else { throw .noFunction }
        let call = unsafeBitCast(symbol, to: (@convention(c) (CLong, UnsafePointer<UInt64>, CLong) -> CLong).self)
        let child = withUnsafePointer(to: pid) { place in
            // clone3(2): flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls, set_tid, set_tid_size,
            // cgroup.
            let arguments: [UInt64] = [0, 0, 0, 0, UInt64(SIGCHLD), 0, 0, 0, UInt64(UInt(bitPattern: place)), 1, 0]
            // SYS_clone3 has this number on all 64-bit machines. Without CLONE_VM it is a fork(2).
            return call(435, arguments, arguments.count * MemoryLayout<UInt64>.size)
        }
        guard child >= 0 else { throw Errno(rawValue: errno) }
        if child == 0 {
            try? ParentDeath.arm(signal: SIGKILL, parent: getppid())
            while true { pause() }
        }
    }

    enum End: Equatable {
        case exited(CInt)
        case killed(CInt)
    }

    /// Kills a child, unless the PID is none; returns when it is gone.
    static func end(_ child: pid_t) {
        kill(child, SIGKILL)
        _ = wait(child)
    }

    static func wait(_ child: pid_t) -> End {
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status & 0x7F == 0 ? .exited(status >> 8 & 0xFF) : .killed(status & 0x7F)
    }

    /// Returns when a child is stopped, or has ended; an ended child is not reaped.
    static func waitUntilStopped(_ child: pid_t) {
        var info = siginfo_t()
        while waitid(P_PID, id_t(child), &info, WSTOPPED | WEXITED | WNOWAIT) != 0, errno == EINTR {}
    }

    /// Returns whether a child has ended, without reaping it.
    static func hasEnded(_ child: pid_t) -> Bool {
        var info = siginfo_t()
        // waitid(2): without WNOHANG it would wait, without WNOWAIT the child were gone; si_pid stays 0 while it lives.
        // kill(2) with signal 0 also finds a process that has ended and was not waited for.
        return waitid(P_PID, id_t(child), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info._sifields._kill.si_pid != 0
    }

    /// Waits for a child's end for a time at most, then kills it.
    ///
    /// Returns: How it ended, and whether it was killed from here.
    static func wait(_ child: pid_t, atMost microseconds: Int) -> (End, wasKilledHere: Bool) {
        guard let pidfd = try? PIDFD(pid: child) else { return (wait(child), false) }
        // poll(2) counts in milliseconds.
        usleep(UInt32(microseconds % 1000))
        var descriptor = pollfd(fd: pidfd.raw, events: Int16(POLLIN), revents: 0)
        if poll(&descriptor, 1, CInt(microseconds / 1000)) == 0 {
            kill(child, SIGKILL)
            return (wait(child), true)
        }
        return (wait(child), false)
    }
}
