import Glibc
import SpaceSystem
import SystemPackage

/// A running `space-test-agent`, or another program of the tests: a real other process that obeys a test's commands.
///
/// It is killed and reaped at the latest when this value goes. Each wait is for a line or a status of the process,
/// never for time to pass; the limit is a watchdog against hanging. One test uses it, from one thread at a time.
package final class Agent: @unchecked Sendable {
    package enum End: Equatable, Sendable {
        case exited(Int32)
        case killed(by: Int32)
    }

    package let pid: Int32
    /// One end of a pair of sockets; the other is the agent's standard input and output.
    private let socket: CInt
    private var pending: [UInt8] = []
    private var end: End?

    /// Starts an agent; it has nothing open yet.
    ///
    /// `program`: Another of the tests' programs, beside the one that runs.
    package init(program name: String = "space-test-agent", _ arguments: [String] = []) throws {
        var pair: [CInt] = [-1, -1]
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw TestFailure("socketpair: errno \(errno)") }
        defer { close(pair[1]) }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pair[1], 0)
        posix_spawn_file_actions_adddup2(&actions, pair[1], 1)

        let program = try Self.folder.get().appending(name).string
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        // A child that is killed on purpose needn't print a long report. A sanitizer's options count for it too.
        let options = ["ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"].compactMap { (name: String) in
            getenv(name).map { "\(name)=\(String(cString: $0))" }
        }
        var environment: [UnsafeMutablePointer<CChar>?] =
            (["SWIFT_BACKTRACE=enable=no"] + options).map { strdup($0) } + [nil]
        defer { (words + environment).forEach { free($0) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, program, &actions, nil, &words, &environment)
        guard error == 0 else {
            close(pair[0])
            throw TestFailure("posix_spawn \(program): errno \(error)")
        }
        pid = child
        socket = pair[0]
    }

    /// Starts an agent that opens a namespace.
    package convenience init(_ root: TemporaryRoot, _ name: String, _ options: String = "") throws {
        try self.init()
        try open(root, name, options)
    }

    deinit {
        close(socket)
        if end == nil {
            Glibc.kill(pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0 && errno == EINTR {}
        }
    }

    /// The folder of the running test program, in which the other programs are.
    private static let folder = Result<FilePath, any Error> {
        var buffer = [CChar](repeating: 0, count: 4096)
        guard readlink("/proc/self/exe", &buffer, buffer.count - 1) > 0 else {
            throw TestFailure("readlink: errno \(errno)")
        }
        return FilePath(platformString: buffer).removingLastComponent()
    }

    // MARK: Talking

    /// Sends a command, without waiting for the answer.
    package func send(_ command: String) throws {
        let bytes = Array((command + "\n").utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw TestFailure("agent \(pid) takes no command \"\(command)\": errno \(errno)") }
            sent += count
        }
    }

    /// The next line that it prints; `nil` when it has ended.
    package func line() throws -> String? {
        let deadline = MonotonicInstant.now.advanced(by: watchdog)
        while true {
            if let newline = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...newline) }
                return String(decoding: pending[..<newline], as: UTF8.self)
            }
            var request = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            let ready = poll(&request, 1, deadline.remaining.pollMilliseconds)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { throw TestFailure("agent \(pid) is silent") }
            var chunk = [UInt8](repeating: 0, count: 4096)
            let count = recv(socket, &chunk, chunk.count, 0)
            guard count > 0 else { return nil }
            pending.append(contentsOf: chunk[..<count])
        }
    }

    /// Sends a command and returns its answer.
    package func ask(_ command: String) throws -> String {
        try send(command)
        guard let answer = try line() else { throw TestFailure("agent \(pid) ended at \"\(command)\"") }
        return answer
    }

    /// Sends a command that must succeed.
    ///
    /// - Returns: What follows `ok` in the answer.
    @discardableResult
    package func run(_ command: String) throws -> String {
        let answer = try ask(command)
        guard answer == "ok" || answer.hasPrefix("ok ") else {
            throw TestFailure("agent \(pid), \"\(command)\": \(answer)")
        }
        return String(answer.dropFirst(3))
    }

    /// Opens a namespace, and creates it if necessary.
    ///
    /// The options are such as `owning=0 timeout=300 mode=durable`.
    package func open(_ root: TemporaryRoot, _ name: String, _ options: String = "") throws {
        try run("open \(root.path) \(name) \(options)")
    }

    // MARK: Its life

    /// Ends it as `kill -9` does, and waits until it is gone.
    package func kill() throws {
        Glibc.kill(pid, SIGKILL)
        guard try ended() == .killed(by: SIGKILL) else {
            throw TestFailure("agent \(pid) had ended before it was killed")
        }
    }

    /// Tells it to exit normally, and waits until it is gone.
    package func exit() throws {
        try send("exit")
        guard try ended() == .exited(0) else { throw TestFailure("agent \(pid) did not exit well") }
    }

    /// Waits until it has ended.
    package func ended() throws -> End {
        if let end { return end }
        guard try eventually({ try look(WNOHANG) }), let end else { throw TestFailure("agent \(pid) does not end") }
        return end
    }

    private func look(_ options: CInt) throws -> Bool {
        var status: CInt = 0
        let result = waitpid(pid, &status, options)
        if result < 0 { throw TestFailure("waitpid \(pid): errno \(errno)") }
        guard result == pid else { return false }
        if status & 0xff == 0x7f { return true }
        end = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .killed(by: status & 0x7f)
        return true
    }

    /// Stops it, and returns once it has stopped.
    package func stop() throws {
        Glibc.kill(pid, SIGSTOP)
        try waitUntilStopped()
    }

    /// Waits until it has stopped itself.
    package func waitUntilStopped() throws {
        guard try eventually({ try look(WUNTRACED | WNOHANG) }), end == nil else {
            throw TestFailure("agent \(pid) does not stop, or has ended")
        }
    }

    /// Lets it go on.
    package func resume() { Glibc.kill(pid, SIGCONT) }
}
