import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// A child process with pipes to and from it.
///
/// Each wait has a limit, after which the child is killed and the test fails: a watchdog, not a measurement.
package final class RunningCommand {
    package let pid: Int32
    private var input: CInt
    private var output: CInt
    private var errors: CInt
    private var outputText = Received()
    private var errorText = Received()
    private var ending: Ending?
    private let name: String

    /// Held from the making of a child's pipes until it was started: Glibc's module doesn't show pipe2(2), and a child
    /// that another test starts in between would inherit the ends and keep them open.
    private static let spawning = Mutex<Void>(())

    init(_ path: String, _ arguments: [String], _ environment: [String]) throws {
        name = ([path] + arguments).joined(separator: " ")
        (pid, input, output, errors) = try Self.spawning.withLock { _ in
            try Self.spawn(path, arguments, environment)
        }
        // Reading one pipe must not wait while the child fills the other.
        for descriptor in [input, output, errors] {
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
    }

    deinit {
        if ending == nil {
            kill(-pid, SIGKILL)
            waitpid(pid, nil, 0)
        }
        for descriptor in [input, output, errors] where descriptor >= 0 { close(descriptor) }
    }

    /// The paths of the files that the child has open now.
    package var openFiles: [String] {
        let folder = "/proc/\(pid)/fd"
        guard let descriptor = try? OwnedDescriptor.directory(FilePath(folder)),
            let numbers = try? Directory.list(descriptor.raw)
        else { return [] }
        return numbers.compactMap { number in
            var path = [CChar](repeating: 0, count: Int(PATH_MAX))
            let length = readlink("\(folder)/\(number)", &path, path.count)
            return length > 0 ? String(decoding: path[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
        }
    }

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        _ environment: [String]
    ) throws -> (pid: Int32, input: CInt, output: CInt, errors: CInt) {
        let (stdin, toChild) = try pipe()
        let (fromChild, stdout) = try pipe()
        let (fromErrors, stderr) = try pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (source, target) in [(stdin, STDIN_FILENO), (stdout, STDOUT_FILENO), (stderr, STDERR_FILENO)] {
            posix_spawn_file_actions_adddup2(&actions, source, target)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The child begins with the signals as a shell would leave them.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | Self.newSession
        )
        var words: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
        defer { for word in words + variables { free(word) } }
        var pid: pid_t = 0
        let result = posix_spawn(&pid, path, &actions, &attributes, &words, &variables)
        for descriptor in [stdin, stdout, stderr] { close(descriptor) }
        guard result == 0 else {
            for descriptor in [toChild, fromChild, fromErrors] { close(descriptor) }
            throw TestFailure("\(path) can't be started: \(Errno(rawValue: result))")
        }
        return (pid, toChild, fromChild, fromErrors)
    }

    /// POSIX_SPAWN_SETSID of spawn.h, which Glibc's module doesn't show: the child leads a session, as that of a terminal
    /// or of cron does.
    ///
    /// The commands of a script then belong to its shell, and a test doesn't depend on the session in which it runs.
    private static let newSession: Int16 = 0x80

    private static func pipe() throws -> (reading: CInt, writing: CInt) {
        var ends: [CInt] = [0, 0]
        guard Glibc.pipe(&ends) == 0 else { throw TestFailure("pipe: \(Errno(rawValue: errno))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    // MARK: Talking

    /// Writes to the child's standard input.
    package func send(_ text: String) throws {
        var bytes = Array(text.utf8)[...]
        try loop {
            bytes.isEmpty ? nil : [(input, POLLOUT)]
        } ready: { _ in
            let count = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            guard count >= 0 else {
                if errno == EAGAIN { return }
                throw TestFailure("\(name): writing to it: \(Errno(rawValue: errno))")
            }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Ends the child's standard input.
    package func closeInput() {
        if input >= 0 { close(input) }
        input = -1
    }

    /// Closes the reading end of the child's standard output: the child's next output breaks the pipe.
    package func closeOutput() {
        if output >= 0 { close(output) }
        output = -1
    }

    /// Makes the pipe of the child's standard output as small as it can be: one page.
    package func narrowOutput() throws {
        // F_SETPIPE_SZ of fcntl.h, which Glibc's module doesn't show.
        guard fcntl(output, 1031, 4096) >= 0 else { throw TestFailure("F_SETPIPE_SZ: \(Errno(rawValue: errno))") }
    }

    /// How many bytes of standard output are in the pipe, unread.
    package var unreadBytes: Int {
        var count: CInt = 0
        return ioctl(output, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// The next line of standard output, without its end; `nil` at the end.
    package func readLine() throws -> String? { try line(of: \.outputText, from: \.output) }

    /// The next line of standard error, without its end; `nil` at the end.
    package func readErrorLine() throws -> String? { try line(of: \.errorText, from: \.errors) }

    private func line(
        of text: ReferenceWritableKeyPath<RunningCommand, Received>,
        from pipe: KeyPath<RunningCommand, CInt>
    ) throws -> String? {
        try loop {
            self[keyPath: text].hasLine || self[keyPath: pipe] < 0 ? nil : pending
        } ready: {
            try receive($0)
        }
        return self[keyPath: text].takeLine()
    }

    package func signal(_ number: Int32) { kill(pid, number) }

    /// Stops the child, and returns once it has stopped; SIGCONT lets it go on.
    package func stop() throws {
        signal(SIGSTOP)
        var info = siginfo_t()
        let hasStopped = try eventually {
            waitid(P_PID, id_t(pid), &info, WSTOPPED | WNOHANG) == 0 && info.si_signo == SIGCHLD
        }
        guard hasStopped else { throw TestFailure("\(pid) does not stop, or has ended") }
    }

    /// Feeds the child, reads all its output, and waits for its end.
    ///
    /// `patience`: How long the child may take to close its output.
    @discardableResult
    package func finish(input text: String = "", patience: Duration = watchdog) throws -> CommandResult {
        var bytes = Array(text.utf8)[...]
        if bytes.isEmpty { closeInput() }
        try loop(patience: patience) {
            let wanted = pending + (input >= 0 ? [(input, POLLOUT)] : [])
            return wanted.isEmpty ? nil : wanted
        } ready: { descriptor in
            guard descriptor == input else { return try receive(descriptor) }
            let count = bytes.withUnsafeBytes { write(input, $0.baseAddress, $0.count) }
            // A child that doesn't read to the end is a result like any other.
            if count < 0, errno != EAGAIN { bytes = [] } else { bytes = bytes.dropFirst(max(0, count)) }
            if bytes.isEmpty { closeInput() }
        }
        return CommandResult(
            output: outputText.all,
            errors: errorText.all,
            ending: try wait()
        )
    }

    /// Waits for the child's end, whatever it still prints.
    @discardableResult
    package func wait() throws -> Ending {
        if let ending { return ending }
        let process = try PIDFD(pid: pid)
        let descriptor = process.raw
        var hasExited = false
        try loop {
            hasExited ? nil : [(descriptor, POLLIN)]
        } ready: { _ in
            hasExited = true
        }
        // The descriptor is open until here.
        _ = consume process
        var status: Int32 = 0
        waitpid(pid, &status, 0)
        let ending = Ending(waitStatus: status)
        self.ending = ending
        return ending
    }

    // MARK: Waiting

    /// The pipes that may still bring data.
    private var pending: [(CInt, Int32)] {
        [output, errors].filter { $0 >= 0 }.map { ($0, POLLIN) }
    }

    private func receive(_ descriptor: CInt) throws {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        if count > 0 {
            if descriptor == output { outputText.add(buffer[..<count]) } else { errorText.add(buffer[..<count]) }
            return
        }
        close(descriptor)
        if descriptor == output { output = -1 } else { errors = -1 }
    }

    private func loop(
        patience: Duration = watchdog,
        wanted: () -> [(CInt, Int32)]?,
        ready: (CInt) throws -> Void
    ) throws {
        let deadline = MonotonicInstant.now.advanced(by: patience)
        while let wanted = wanted() {
            if deadline.hasPassed {
                kill(-pid, SIGKILL)
                throw TestFailure("\(name): nothing happened for \(patience); it said: \(errorText.all)")
            }
            var requests = wanted.map { pollfd(fd: $0.0, events: Int16($0.1), revents: 0) }
            guard poll(&requests, nfds_t(requests.count), deadline.remaining.pollMilliseconds) > 0 else { continue }
            for request in requests where request.revents != 0 { try ready(request.fd) }
        }
    }
}

/// What a child has printed, and how much of it was read line by line.
private struct Received {
    private var bytes: [UInt8] = []
    private var unread = 0

    var all: String { String(decoding: bytes, as: UTF8.self) }
    var hasLine: Bool { end != nil }

    private var end: Int? { bytes[unread...].firstIndex(of: UInt8(ascii: "\n")) }

    mutating func add(_ more: ArraySlice<UInt8>) { bytes += more }

    /// The next line without its end, or what is left; `nil` if nothing is.
    mutating func takeLine() -> String? {
        guard unread < bytes.count else { return nil }
        let end = end ?? bytes.count
        defer { unread = min(end + 1, bytes.count) }
        return String(decoding: bytes[unread..<end], as: UTF8.self)
    }
}
