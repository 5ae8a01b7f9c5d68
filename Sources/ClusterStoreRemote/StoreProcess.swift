import Glibc
import SpaceSystem
import Synchronization
package import SystemPackage

/// A program that has a store, such as `space-etcd`, as this process's child.
///
/// The program speaks the store's wire on its standard input and output, which are one end of a pair of sockets. It ends
/// when its standard input ends: when this object goes, and also when this process is killed.
package final class StoreProcess: Sendable {
    /// The store; when it has ended, the owner starts the program anew.
    package let store: RemoteStore
    package let pid: Int32
    private let isWaitedFor = Mutex(false)
    private let status = Mutex<Int32?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path.
    ///   - arguments: Its arguments, without its own name.
    ///   - errors: The descriptor that becomes its standard error.
    ///   - timeLimit: How long a call of ``store`` waits for its answer.
    /// - Throws: The errors of socketpair(2) and posix_spawn(3).
    package init(
        _ program: String,
        _ arguments: [String],
        errors: CInt = 2,
        timeLimit: Duration = .seconds(5)
    ) throws(Errno) {
        let pair = try LocalSocket.pair()
        let theirs = OwnedDescriptor(adopting: pair.1)
        let own = OwnedDescriptor(adopting: pair.0)
        pid = try Self.spawn(program, arguments, input: theirs.raw, errors: errors)
        let socket = own.release()
        do throws(Errno) {
            store = try RemoteStore(input: socket, output: socket, timeLimit: timeLimit)
        } catch {
            close(socket)
            throw error
        }
    }

    deinit {
        store.close()
        // The program ends by itself now; a thread waits for it, so that no zombie remains.
        guard !isWaitedFor.withLock({ $0 }) else { return }
        let pid = pid
        try? DetachedThread.start { Self.wait(for: pid) }
    }

    /// Sends a signal to the program.
    package func send(_ signal: CInt) {
        isWaitedFor.withLock { isWaitedFor in
            if !isWaitedFor { kill(pid, signal) }
        }
    }

    /// The program's exit status, if it has exited by itself.
    package var exitStatus: Int32? {
        isWaitedFor.withLock { isWaitedFor in
            var ending: CInt = 0
            if !isWaitedFor, waitpid(pid, &ending, WNOHANG) == pid {
                isWaitedFor = true
                if ending & 0x7f == 0 { status.withLock { $0 = ending >> 8 & 0xff } }
            }
            return status.withLock { $0 }
        }
    }

    /// Ends the program at once, whatever it is doing, and waits for its end.
    package func end() {
        store.close()
        isWaitedFor.withLock { isWaitedFor in
            guard !isWaitedFor else { return }
            kill(pid, SIGKILL)
            Self.wait(for: pid)
            isWaitedFor = true
        }
    }

    private static func wait(for pid: Int32) {
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    }

    private static func spawn(
        _ program: String,
        _ arguments: [String],
        input: CInt,
        errors: CInt
    ) throws(Errno) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // posix_spawn_file_actions_adddup2(3): the copies are not close-on-exec, also where both numbers are the same.
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, input, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program handles its own signals, whatever this thread blocks.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) }
        words.append(nil)
        defer { for word in words { free(word) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, program, &actions, &attributes, &words, environ)
        guard error == 0 else { throw Errno(rawValue: error) }
        return child
    }
}
