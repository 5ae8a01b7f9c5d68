import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

// Changes of the process itself: limits, forks, another program, a file system of its own.

extension Agent {
    func performOnProcess(_ command: String, _ words: [String]) throws -> String {
        switch command {
        case "peak-memory":
            // In KiB.
            var usage = rusage()
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
            return "ok \(usage.ru_maxrss)"
        case "limit": try limit(try word(words, 0), to: try number(words, 1))
        case "fork-holding": return "ok \(try forkHolding())"
        case "fork-using": return try forkUsing()
        case "fork-leaving": return try forkLeaving()
        case "fork-opening": return "ok \(try forkOpening(try word(words, 0)))"
        case "forget-robust-list": try forgetRobustList()
        case "exec":
            try becomeAnother()
        case "begin-again": try beginAgain()
        case "end-main-thread": try endMainThread()
        case "without-inotify": try becomeOneWithoutInotify()
        case "tmpfs": try mountSmall(try word(words, 0), size: try number(words, 1))
        case "chdir":
            guard chdir(try word(words, 0)) == 0 else { throw Failure("chdir: errno \(errno)") }
        case "interrupt-every": try beInterrupted(every: try number(words, 0))
        case "uid":
            guard setuid(try number(words, 0)) == 0 else { throw Failure("setuid: errno \(errno)") }
        case "become": try becomeAnotherUser(words)
        case "alarms": try ringAlarms(everyMilliseconds: try number(words, 0))
        case "fill-file": try fillFile(try word(words, 0))
        case "remove-file":
            guard unlink(try word(words, 0)) == 0 else { throw Failure("unlink: errno \(errno)") }
        case "list-folder": return "ok " + (try names(in: try word(words, 0)).joined(separator: " "))
        default: throw Failure("no command \(command)")
        }
        return "ok"
    }

    /// `limit fsize|nofile <n>`.
    private func limit(_ what: String, to value: UInt) throws {
        let resource = __rlimit_resource_t((what == "fsize" ? RLIMIT_FSIZE : RLIMIT_NOFILE).rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { throw Failure("getrlimit: errno \(errno)") }
        // The hard limit stays, so that the soft one can be raised again.
        limit.rlim_cur = value
        guard setrlimit(resource, &limit) == 0 else { throw Failure("setrlimit: errno \(errno)") }
    }

    /// Has a signal interrupt this process again and again; interrupted work goes on afterwards.
    private func beInterrupted(every milliseconds: Int) throws {
        var action = sigaction()
        // No SA_RESTART: a blocked call ends with EINTR.
        action.__sigaction_handler = .init(sa_handler: { _ in })
        sigaction(SIGALRM, &action, nil)
        let interval = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        var timer = itimerval(it_interval: interval, it_value: interval)
        guard setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil) == 0 else {
            throw Failure("setitimer: errno \(errno)")
        }
    }

    /// Forks a child that keeps every descriptor it inherited until it is killed.
    private func forkHolding() throws -> pid_t {
        let child = try fork()
        if child == 0 {
            // Its own dead-man's switch: alarms are not inherited (fork(2)). The child runs no Swift beyond this: other
            // threads may have held locks at the fork.
            alarm(300)
            while true { pause() }
        }
        return child
    }

    /// Forks a child that uses the inherited handle, and reports the result through its status.
    private func forkUsing() throws -> String {
        let namespace = try namespace()
        let child = try fork()
        if child == 0 {
            do throws(SpaceError) {
                _ = try namespace.count()
                _exit(1)
            } catch {
                _exit(error.code == .forked ? 0 : 2)
            }
        }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return "ok \(status)"
    }

    /// Forks a child that leaves through the inherited handle.
    private func forkLeaving() throws -> String {
        let namespace = try namespace()
        let child = try fork()
        if child == 0 {
            alarm(60)
            do throws(SpaceError) { try namespace.leave() } catch { _exit(2) }
            _exit(0)
        }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return "ok \(status)"
    }

    /// Forks a child that opens a namespace, and reports the result through its status; 3: it could.
    private func forkOpening(_ name: String) throws -> Int32 {
        try inChild {
            do throws(SpaceError) {
                guard let space = self.space else { return 4 }
                _ = try space.namespace(name)
                return 3
            } catch {
                say(describe(error))
                return 0
            }
        }
    }

    /// Gives the kernel an empty list in place of the list of the locks that this thread holds (get_robust_list(2)): as
    /// if that list were broken, so that the kernel can't announce this thread's death.
    private func forgetRobustList() throws {
        let call = try hidden("syscall", as: (@convention(c) (CLong, UnsafeMutableRawPointer, Int) -> CLong).self)
        // struct robust_list_head: the first entry, which is the head itself in an empty list; an offset; none pending.
        let head = UnsafeMutableRawPointer.allocate(byteCount: 24, alignment: 8)
        head.initializeMemory(as: UInt8.self, repeating: 0, count: 24)
        head.storeBytes(of: UInt(bitPattern: head), as: UInt.self)
        #if arch(x86_64)
        let number = 273
        #else
        let number = 99
        #endif
        guard call(number, head, 24) == 0 else { throw Failure("set_robust_list: errno \(errno)") }
    }

    /// Runs `body` in a child made by fork.
    ///
    /// Returns: The child's wait status, which its result becomes.
    func inChild(_ body: () -> Int32) throws -> Int32 {
        let child = try fork()
        if child == 0 {
            alarm(60)
            _exit(body())
        }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 && errno == EINTR {}
        return status
    }

    private func fork() throws -> pid_t {
        let fork = try hidden("fork", as: (@convention(c) () -> pid_t).self)
        let child = fork()
        guard child >= 0 else { throw Failure("fork: errno \(errno)") }
        return child
    }

    /// Ends the thread that obeys commands; another thread reports that, and ends the process at the next line.
    private func endMainThread() throws {
        var thread = pthread_t()
        let error = pthread_create(&thread, nil, goOnAlone, nil)
        guard error == 0 else { throw Failure("pthread_create: errno \(error)") }
        pthread_exit(nil)
    }

    /// Becomes another program, which ends when standard input does; open descriptors stay open unless they are
    /// close-on-exec.
    private func becomeAnother() throws {
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/cat"), nil]
        say("ok")
        execv("/bin/cat", words)
        throw Failure("execv: errno \(errno)")
    }

    /// Mounts a tmpfs of `size` bytes over a folder, which only this process sees and which goes with it.
    private func mountSmall(_ folder: String, size: Int) throws {
        let unshare = try hidden("unshare", as: (@convention(c) (CInt) -> CInt).self)
        let newMountNamespace: CInt = 0x0002_0000  // CLONE_NEWNS
        guard unshare(newMountNamespace) == 0 else { throw Failure("unshare: errno \(errno)") }
        // mount_namespaces(7): without MS_PRIVATE the mount would spread to the other mount namespaces.
        guard mount(nil, "/", nil, UInt(MS_REC) | UInt(MS_PRIVATE), nil) == 0,
            mount("tmpfs", folder, "tmpfs", 0, "size=\(size),mode=0700") == 0
        else { throw Failure("mount: errno \(errno)") }
        // unshare(2) applied to this thread alone; after an exec the only thread is in the new mount namespace.
        try beginAgain()
    }

    /// Begins again as the same program in the same process.
    private func beginAgain() throws {
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("space-test-agent"), strdup("again"), nil]
        execv("/proc/self/exe", words)
        throw Failure("execv: errno \(errno)")
    }

    /// Begins anew in a user namespace that has no inotify instances.
    ///
    /// user_namespaces(7): resources counted there, inotify(7)'s instances too, have limits of their own.
    private func becomeOneWithoutInotify() throws {
        var path = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/exe", &path, path.count - 1) > 0 else { throw Failure("readlink: errno \(errno)") }
        let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec \"$0\" again"
        var words = ["unshare", "-Ur", "/bin/sh", "-c", script].map { (word: String) in strdup(word) }
        words += [strdup(path), nil]
        execvp("unshare", words)
        throw Failure("execvp: errno \(errno)")
    }

    /// Writes a file until nothing is free.
    private func fillFile(_ path: String) throws {
        let file = try OwnedDescriptor.open(path, flags: O_RDWR | O_CREAT, mode: 0o600)
        let page = [UInt8](repeating: 1, count: 4096)
        var offset = 0
        while true {
            do throws(Errno) {
                try FileBytes.write(page, to: file.raw, at: offset)
            } catch {
                guard error == .noSpace else { throw error }
                return
            }
            offset += page.count
        }
    }

    private func names(in path: String) throws -> [String] {
        guard access(path, F_OK) == 0 else { return [] }
        let folder = try OwnedDescriptor.open(path, flags: O_RDONLY | O_DIRECTORY)
        return try Directory.list(folder.raw)
    }

    /// `become <uid> <group>…`: begins anew as another user with these groups, the first of which is its own.
    ///
    /// proc(5): a process that only changed its user may not look at its own descriptors in /proc.
    private func becomeAnotherUser(_ words: [String]) throws {
        let groups = try words.indices.dropFirst().map { try number(words, $0) as gid_t }
        guard let group = groups.first, setgroups(groups.count, groups) == 0, setgid(group) == 0,
            setuid(try number(words, 0)) == 0
        else { throw Failure("becoming another user: errno \(errno)") }
        try beginAgain()
    }

    /// A signal that is handled, again and again: it interrupts waits in the kernel (signal(7)).
    private func ringAlarms(everyMilliseconds milliseconds: Int) throws {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in }
        action.sa_flags = SA_RESTART
        guard sigaction(SIGUSR1, &action, nil) == 0 else { throw Failure("sigaction: errno \(errno)") }
        let thread = pthread_self()
        try DetachedThread.start {
            while true {
                usleep(UInt32(milliseconds) * 1000)
                // To the process: any waiting thread may get it.
                kill(getpid(), SIGUSR1)
                pthread_kill(thread, SIGUSR1)
            }
        }
    }

    /// Functions that Swift's Glibc module hides, found by name.
    private func hidden<Function>(_ name: String, as type: Function.Type) throws -> Function {
        guard let symbol = dlsym(nil, name) else { throw Failure("no \(name) in libc") }
        return unsafeBitCast(symbol, to: type)
    }
}

/// A thread that goes on when the main thread has ended; not a closure, which would belong to the actor that it is
/// written in.
private nonisolated func goOnAlone(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // proc(5): a process whose main thread has ended shows as a zombie.
    while ProcessIdentity.state(of: getpid()) != "Z" { sched_yield() }
    say("ok")
    _ = readLine()
    // exit(3), as programs end: it leaves the open namespaces.
    exit(0)
}
