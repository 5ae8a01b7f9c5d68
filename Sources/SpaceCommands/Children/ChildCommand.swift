@preconcurrency import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

/// A command that is run for a value on its standard input, and whose end is waited for.
///
/// Its words are the last ones of argv: there they are as they came, UTF-8 or not. It shares the standard output and error of
/// this process, and its process group, and so the terminal. When this process ends before it, killed or not, its guardian kills
/// it, and all that it has started (`Guardian`): two holders of one thing never overlap. The same becomes of what the
/// command has left when a signal has asked this process to end, or the command's right was lost. What it leaves behind when it
/// has ended by itself is its own affair.
struct ChildCommand {
    private let words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// - Parameter wordCount: How many words argv ends with that are the command's.
    init(wordCount: Int) {
        words = CommandLine.unsafeArgv + max(0, Int(CommandLine.argc) - wordCount)
    }

    /// How the command ended, as a shell says it: its status, or 128 and the signal.
    struct Ending: Equatable {
        let status: Int32

        init(waitStatus: Int32) {
            // wait(2): the low seven bits hold the signal, the next byte the status.
            let number = waitStatus & 0x7F
            status = number == 0 ? (waitStatus >> 8) & 0xFF : 128 + number
        }
    }

    /// Runs the command, and waits for its end, also after a signal: that is passed on.
    ///
    /// - Throws: `CommandFailure` with 126 or 127 where it can't be run, `Terminated` when a signal came before; it never ran then.
    func run(input line: String) throws -> Ending {
        var output: CommandOutput?
        return try run(line, &output)
    }

    /// Runs the command, and keeps what it writes to its standard output.
    ///
    /// `right`: Without it the command may not go on.
    ///
    /// - Returns: How it ended, and what it wrote.
    /// - Throws: `CommandFailure` with 126 or 127 where it can't be run, `Terminated` when a signal came before; it never ran then.
    func runForOutput(input line: String, with right: CommandRight) throws -> (ending: Ending, output: CommandOutput) {
        let output = try CommandOutput()
        var kept: CommandOutput? = output
        let ending = try run(line, &kept, right)
        return (ending, kept ?? output)
    }

    /// Runs the command with nothing on its standard input, and keeps what it writes to its standard output.
    ///
    /// `right`: Without it the command may not go on.
    ///
    /// - Returns: How it ended, and what it wrote.
    /// - Throws: `CommandFailure` with 126 or 127 where it can't be run, `Terminated` when a signal came before; it never ran then.
    func runForOutput(with right: CommandRight) throws -> (ending: Ending, output: CommandOutput) {
        let output = try CommandOutput()
        var kept: CommandOutput? = output
        defer { kept?.close() }
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard nothing >= 0 else {
            throw CommandFailure(.inputOutput, "cannot open /dev/null: \(Errno(rawValue: errno))")
        }
        defer { close(nothing) }
        let program = try spawn(reading: nothing, writing: output.writing)
        kept?.handOver()
        var feed = Feed.nothing
        let ending = wait(for: program, &feed, &kept, right)
        return (ending, kept ?? output)
    }

    private func run(
        _ line: String,
        _ output: inout CommandOutput?,
        _ right: CommandRight? = nil
    ) throws -> Ending {
        defer { output?.close() }
        var feed = try Feed(line)
        // What fits the pipe is there before the command is.
        feed.write()
        defer { feed.close() }
        let program = try spawn(reading: feed.reading, writing: output?.writing)
        feed.handOver()
        output?.handOver()
        return wait(for: program, &feed, &output, right)
    }

    /// Runs the command with this process's standard input, and waits for its end, also after a signal: that is passed on.
    ///
    /// `right`: Without it the command may not go on.
    ///
    /// - Throws: `CommandFailure` with 126 or 127 where it can't be run, `Terminated` when a signal came before; it never ran then.
    func run(with right: CommandRight? = nil) throws -> Ending {
        var feed = Feed.nothing
        var output: CommandOutput?
        return wait(for: try spawn(reading: STDIN_FILENO, writing: nil), &feed, &output, right)
    }

    /// - Throws: `Terminated` when a signal has asked this process to end; `CommandFailure`.
    private func spawn(reading input: CInt, writing output: CInt?) throws -> Guardian.Program {
        try Signals.check()
        guard let file = words[0] else { throw CommandFailure.usage("the command to run is missing") }
        // wait(2): while SIGCHLD is ignored nobody learns how a child ended.
        signal(SIGCHLD, SIG_DFL)
        do throws(Errno) {
            // This is the process's first thread, which lives as long as the process.
            Guardian.adoptOrphans()
            return try Guardian.spawn(
                file,
                words,
                input: input,
                output: output,
                resetting: Signals.errorsToReset
            )
        } catch {
            throw CommandFailure(
                error == .noSuchFileOrDirectory ? .commandNotFound : .cannotExecute,
                "cannot run \(String(cString: file).quotedForPeople): \(error.told)"
            )
        }
    }

    private func wait(
        for program: borrowing Guardian.Program,
        _ feed: inout Feed,
        _ output: inout CommandOutput?,
        _ right: CommandRight? = nil
    ) -> Ending {
        let guardian = program.guardian
        var right = right
        var relay = SignalRelay()
        while true {
            let due = relay.passOn(to: guardian)
            let limit = right?.enforce(on: guardian)
            // poll(2) leaves negative descriptors out.
            var requests = [
                pollfd(fd: program.news.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: feed.writing, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output?.reading ?? -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: right?.news ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let patience = [due, limit].compactMap(\.self).min()?.pollMilliseconds ?? -1
            guard poll(&requests, nfds_t(requests.count), patience) > 0 else { continue }
            if requests[1].revents != 0 { feed.write() }
            if requests[2].revents != 0 { output?.read() }
            guard requests[0].revents != 0 else { continue }
            // What it started in its turn may hold the pipe open: what is there is what it wrote.
            output?.read()
            // A signal to the whole process group has been handled here before the command's end is told.
            let isAsked = Signals.pending != nil || right?.isLost ?? false
            if isAsked { Guardian.sweep(guardian) } else { Guardian.leave(guardian) }
            return Self.reap(guardian)
        }
    }

    private static func reap(_ guardian: pid_t) -> Ending {
        var status: Int32 = 0
        // Signals interrupt it; that the guardian is a child of this process, and waited for here alone, rules other errors out.
        while waitpid(guardian, &status, 0) < 0, errno == EINTR {}
        // A guardian ends by itself. One that was killed has left what the command has started to this process.
        if status & 0x7F != 0 { Guardian.endChildren() }
        // And what a command has left behind for good is nobody else's to wait for.
        while waitpid(-1, nil, WNOHANG) > 0 {}
        return Ending(waitStatus: status)
    }

    /// The pipe to the command's standard input, with what is still to be written.
    private struct Feed {
        private(set) var reading: CInt
        private(set) var writing: CInt
        private var rest: ArraySlice<UInt8>

        /// For a command that reads something else.
        static var nothing: Feed { Feed() }

        private init() { (reading, writing, rest) = (-1, -1, []) }

        init(_ line: String) throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else {
                throw CommandFailure(.inputOutput, "cannot make a pipe: \(Errno(rawValue: errno))")
            }
            // No other thread starts processes, so none gets the ends in between.
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
            (reading, writing) = (ends[0], ends[1])
            rest = Array((line + "\n").utf8)[...]
        }

        /// Writes what fits.
        ///
        /// At the end, or when the command has closed its side, the pipe is closed.
        mutating func write() {
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { Glibc.write(writing, $0.baseAddress, $0.count) }
                if count > 0 {
                    rest = rest.dropFirst(count)
                    continue
                }
                switch Errno(rawValue: errno) {
                case .interrupted: continue
                case .resourceTemporarilyUnavailable: return
                // A command that doesn't read all of it is a command like any other.
                default: rest = []
                }
            }
            closeWriting()
        }

        /// The command has its own descriptor of the reading side now; this one would keep the pipe from breaking.
        mutating func handOver() {
            if reading >= 0 { Glibc.close(reading) }
            reading = -1
        }

        private mutating func closeWriting() {
            if writing >= 0 { Glibc.close(writing) }
            writing = -1
        }

        mutating func close() {
            handOver()
            closeWriting()
        }
    }
}
