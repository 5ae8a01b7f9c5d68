import CSpaceShims
import Glibc
import SpaceSystem
import SystemPackage
import Testing

/// A running `space-system-probe`: a real other process, killed and reaped at the latest when this value goes.
///
/// Everything waits for a line or a status, never for time to pass; the limit is a watchdog against hanging.
final class Probe {
    enum End: Equatable {
        case exited(CInt)
        case killed(by: CInt)
    }

    struct Silent: Error {}

    let pid: Int32
    private let input: CInt
    private let output: CInt
    private var pending: [UInt8] = []
    private var end: End?

    static let watchdog: Duration = .seconds(30)

    /// The path of the probe, in the folder of the running test program.
    static var path: String {
        get throws {
            var buffer = [CChar](repeating: 0, count: 4096)
            let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
            try #require(count > 0)
            let path = FilePath(platformString: buffer)
            return path.removingLastComponent().appending("space-system-probe").string
        }
    }

    /// Starts the probe, or another program in its place; `inheriting` are descriptors that it gets besides its
    /// standard ones.
    init(_ arguments: String..., program: String? = nil, inheriting: [CInt] = []) throws {
        var toChild: [CInt] = [0, 0]
        var fromChild: [CInt] = [0, 0]
        try #require(space_pipe(&toChild) == 0)
        try #require(space_pipe(&fromChild) == 0)
        defer {
            close(toChild[0])
            close(fromChild[1])
        }

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, toChild[0], 0)
        posix_spawn_file_actions_adddup2(&actions, fromChild[1], 1)
        for (index, descriptor) in inheriting.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, 500 + CInt(index))
        }

        let program = try program ?? Self.path
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        // A child that crashes on purpose needn't print a long report.
        // A sanitizer's options count for the probe too.
        var environment: [UnsafeMutablePointer<CChar>?] = [strdup("SWIFT_BACKTRACE=enable=no")]
        for name in ["ASAN_OPTIONS", "TSAN_OPTIONS"] {
            if let options = getenv(name) { environment.append(strdup("\(name)=\(String(cString: options))")) }
        }
        environment.append(nil)
        defer { (words + environment).forEach { free($0) } }
        var child: pid_t = 0
        let error = posix_spawn(&child, program, &actions, nil, &words, &environment)
        try #require(error == 0, "posix_spawn(\(program)): \(Errno(rawValue: error))")
        pid = child
        input = toChild[1]
        output = fromChild[0]
    }

    deinit {
        close(input)
        close(output)
        if end == nil {
            kill(pid, SIGKILL)
            while waitpid(pid, nil, 0) < 0 && errno == EINTR {}
        }
    }

    /// The next line that the child prints; `nil` when it has closed its output.
    func line() throws -> String? {
        let deadline = MonotonicInstant.now.advanced(by: Self.watchdog)
        while true {
            if let newline = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeSubrange(...newline) }
                return String(decoding: pending[..<newline], as: UTF8.self)
            }
            var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, deadline.remaining.pollMilliseconds) > 0 else { throw Silent() }
            var chunk = [UInt8](repeating: 0, count: 512)
            let count = space_read(output, &chunk, UInt64(chunk.count))
            guard count > 0 else { return nil }
            pending.append(contentsOf: chunk[..<Int(count)])
        }
    }

    func order(_ line: String = "go") throws {
        let bytes = Array((line + "\n").utf8)
        try #require(space_write(input, bytes, UInt64(bytes.count)) == Int64(bytes.count))
    }

    /// Ends it as `kill -9` does, and waits until it is gone.
    func killAndReap() throws {
        kill(pid, SIGKILL)
        try #require(reap() == .killed(by: SIGKILL))
    }

    /// Waits until it has ended.
    func reap() -> End? {
        if let end { return end }
        var status: CInt = 0
        while true {
            let result = waitpid(pid, &status, 0)
            if result == pid { break }
            if errno != EINTR { return nil }
        }
        end = status & 0x7f == 0 ? .exited(status >> 8 & 0xff) : .killed(by: status & 0x7f)
        return end
    }

    /// Stops the process, and returns once it has stopped.
    func stop() throws {
        kill(pid, SIGSTOP)
        var status: CInt = 0
        try #require(waitpid(pid, &status, WUNTRACED) == pid)
        try #require(status & 0xff == 0x7f)
    }

    func resume() {
        kill(pid, SIGCONT)
    }
}

/// Checks again and again until an expected change has happened; the limit is a watchdog.
func eventually(_ condition: () throws -> Bool) throws -> Bool {
    let deadline = MonotonicInstant.now.advanced(by: Probe.watchdog)
    while try !condition() {
        if deadline.hasPassed { return false }
        sched_yield()
    }
    return true
}
