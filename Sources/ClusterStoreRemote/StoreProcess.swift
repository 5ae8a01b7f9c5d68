import Glibc
import SpaceSystem
import Synchronization
package import SystemPackage

/// A program that has a store, such as `space-etcd`, as this process's child.
///
/// The program speaks the store's wire on its standard input and output, which are one end of a pair of sockets. It
/// ends when its standard input ends: when this object goes, and also when this process is killed. Its standard error
/// is a file in memory, so the program never waits for a reader, and the object's user decides how much of it is shown,
/// and how often. State that the program must keep when it is started again goes into a file that the user owns.
package final class StoreProcess: Sendable {
    /// The store; when it has ended, the owner starts the program again.
    package let store: RemoteStore
    package let pid: Int32
    private let errors: MemoryFile
    /// How it has ended, as waitpid(2) tells, once it was waited for.
    private let ending = Mutex<CInt?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - program: The path.
    ///   - arguments: Its arguments, without its own name.
    ///   - memory: The file that it gets as a descriptor, with the option `--memory` and the descriptor's number; `nil`: none.
    ///   - timeLimit: How long a call of ``store`` waits for its answer.
    /// - Throws: The errors of socketpair(2), memfd_create(2) and posix_spawn(3).
    package init(
        _ program: String,
        _ arguments: [String],
        memory: MemoryFile? = nil,
        timeLimit: Duration = .seconds(5)
    ) throws(Errno) {
        let pair = try LocalSocket.pair()
        let theirs = OwnedDescriptor(adopting: pair.1)
        let own = OwnedDescriptor(adopting: pair.0)
        let errors = try MemoryFile("errors")
        self.errors = errors
        pid = try Self.spawn(
            program,
            memory == nil ? arguments : arguments + ["--memory", "\(Self.memoryNumber)"],
            input: theirs.raw,
            errors: errors.descriptor.raw,
            memory: memory?.descriptor.raw
        )
        let socket = own.release()
        do throws(Errno) {
            store = try RemoteStore(input: socket, output: socket, timeLimit: timeLimit) { errors.firstLine }
        } catch {
            close(socket)
            throw error
        }
    }

    deinit {
        store.close()
        // The program ends by itself now; a thread waits for it, so that no zombie remains.
        guard ending.withLock({ $0 }) == nil else { return }
        let pid = pid
        try? DetachedThread.start { _ = Self.wait(for: pid) }
    }

    /// Sends a signal to the program.
    package func send(_ signal: CInt) { ending.withLock { if $0 == nil { kill(pid, signal) } } }

    /// Ends the program at once, if it has not ended by itself, and waits for its end.
    ///
    /// - Returns: Its exit status; `nil` if a signal has ended it.
    @discardableResult
    package func end() -> Int32? {
        store.close()
        let ended = ending.withLock { ending in
            if let ending { return ending }
            // A program that is about to exit keeps its status.
            kill(pid, SIGKILL)
            let ended = Self.wait(for: pid)
            ending = ended
            return ended
        }
        return ended & 0x7f == 0 ? ended >> 8 & 0xff : nil
    }

    /// The first line that it has printed on standard error, which is empty unless it has ended or is about to.
    package var lastWords: String { errors.firstLine }

    private static func wait(for pid: Int32) -> CInt {
        var ending: CInt = 0
        while waitpid(pid, &ending, 0) < 0, errno == EINTR {}
        return ending
    }

    private static let memoryNumber: CInt = 3

    private static func spawn(
        _ program: String,
        _ arguments: [String],
        input: CInt,
        errors: CInt,
        memory: CInt?
    ) throws(Errno) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // posix_spawn_file_actions_adddup2(3): the copies are not close-on-exec, also where both numbers are the same.
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, input, 1)
        posix_spawn_file_actions_adddup2(&actions, errors, 2)
        if let memory { posix_spawn_file_actions_adddup2(&actions, memory, memoryNumber) }
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
