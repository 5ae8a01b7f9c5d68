import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

// What a process does to itself: limits, forks, another program, a file system of its own.

extension Agent {
    func performOnProcess(_ command: String, _ words: [String]) throws -> String {
        switch command {
        case "limit": try limit(try word(words, 0), to: try number(words, 1))
        case "fork-holding": return "ok \(try forkHolding())"
        case "fork-using": return try forkUsing()
        case "fork-leaving": return try forkLeaving()
        case "exec":
            try becomeAnother()
        case "end-main-thread": try endMainThread()
        case "without-inotify": try becomeOneWithoutInotify()
        case "tmpfs": try mountSmall(try word(words, 0), size: try number(words, 1))
        case "uid":
            guard setuid(try number(words, 0)) == 0 else { throw Failure("setuid: errno \(errno)") }
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
        // The hard one stays, so that it can be raised again.
        limit.rlim_cur = value
        guard setrlimit(resource, &limit) == 0 else { throw Failure("setrlimit: errno \(errno)") }
    }

    /// A child that keeps every descriptor it inherited until it is killed.
    private func forkHolding() throws -> pid_t {
        let child = try fork()
        if child == 0 {
            // Its own dead-man's switch: alarms are not inherited (fork(2)). No Swift beyond this: other threads' locks
            // may have been held.
            alarm(300)
            while true { pause() }
        }
        return child
    }

    /// A child that uses the handle that it inherited, and says what comes of it through its status.
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

    /// A child that leaves through the handle that it inherited.
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

    /// Ends the thread that obeys; another says so, and ends the process at the next line.
    private func endMainThread() throws {
        var thread = pthread_t()
        let error = pthread_create(&thread, nil, goOnAlone, nil)
        guard error == 0 else { throw Failure("pthread_create: errno \(error)") }
        pthread_exit(nil)
    }

    /// Becomes another program, which ends when standard input does; what is open stays open unless it is close-on-exec.
    private func becomeAnother() throws {
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/cat"), nil]
        say("ok")
        execv("/bin/cat", words)
        throw Failure("execv: errno \(errno)")
    }

    /// Mounts a tmpfs of so many bytes over a folder, seen by this process alone and gone with it.
    private func mountSmall(_ folder: String, size: Int) throws {
        let unshare = try hidden("unshare", as: (@convention(c) (CInt) -> CInt).self)
        let newMountNamespace: CInt = 0x0002_0000  // CLONE_NEWNS
        guard unshare(newMountNamespace) == 0 else { throw Failure("unshare: errno \(errno)") }
        // mount_namespaces(7): without MS_PRIVATE the mount would spread to the others.
        guard mount(nil, "/", nil, UInt(MS_REC) | UInt(MS_PRIVATE), nil) == 0,
            mount("tmpfs", folder, "tmpfs", 0, "size=\(size),mode=0700") == 0
        else { throw Failure("mount: errno \(errno)") }
        // unshare(2) was for this thread alone; what begins anew has none but in the new place.
        let words: [UnsafeMutablePointer<CChar>?] = [strdup("space-test-agent"), strdup("again"), nil]
        execv("/proc/self/exe", words)
        throw Failure("execv: errno \(errno)")
    }

    /// Begins anew in a user namespace that has no inotify instances.
    ///
    /// user_namespaces(7): what is counted there, inotify(7)'s instances too, has limits of its own.
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

    /// Functions that Swift's Glibc module hides, found by name.
    private func hidden<Function>(_ name: String, as type: Function.Type) throws -> Function {
        guard let symbol = dlsym(nil, name) else { throw Failure("no \(name) in libc") }
        return unsafeBitCast(symbol, to: type)
    }
}

/// A thread that goes on when the main thread has ended; no closure, which would belong to the actor that it is written in.
private nonisolated func goOnAlone(_: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    // proc(5): a process whose main thread has ended shows as a zombie.
    while ProcessIdentity.state(of: getpid()) != "Z" { sched_yield() }
    say("ok")
    _ = readLine()
    // exit(3), as programs end: it leaves what is open.
    exit(0)
}
