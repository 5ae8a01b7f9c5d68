@preconcurrency import Glibc
import SharedSpace
import SpaceSystem
import SystemPackage

/// A command that this process runs, and whose end it waits for.
///
/// Its words are the last ones of argv, where they are as they came, UTF-8 or not. It shares the standard output and
/// error of this process, and its process group, and so the terminal.
///
/// Guarantees: if this process ends before the command, killed or not, the command's guardian kills the command and all
/// that it has started (`Guardian`), so two holders of one thing never overlap. The same happens to what the command
/// leaves behind if a signal has asked this process to end, or if the command has lost its right. If the command ends
/// by itself, what it leaves behind goes on.
struct ChildCommand {
    private let words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    /// - Parameter wordCount: How many of the last words of argv are the command's.
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

        var isSuccess: Bool { status == 0 }

        /// Makes the command's status this process's, also if a signal has come that the command has dealt with.
        ///
        /// A command that reads a terminal survives many a ^C, and a worker that is asked to end may end its work first.
        ///
        /// - Throws: `CommandFailure` with the command's status and no message, unless the status is 0.
        func passOn() throws {
            Signals.settle(with: status)
            if !isSuccess { throw CommandFailure(ExitStatus(rawValue: status), nil) }
        }
    }

    /// Runs the command, and waits for its end; signals that come meanwhile are passed on to it.
    ///
    /// `right`: What the command needs to go on.
    ///
    /// - Throws: `CommandFailure` with 126 or 127 if the command can't be run; `Terminated` if a signal came before.
    ///   Then the command never ran.
    func run(input: CommandInput.Source = .inherited, with right: CommandRight? = nil) throws -> Ending {
        var output: CommandOutput?
        return try run(input, &output, right)
    }

    /// Runs the command like `run(input:with:)`, and keeps what it writes to its standard output.
    func runForOutput(
        input: CommandInput.Source,
        with right: CommandRight
    ) throws -> (ending: Ending, output: CommandOutput) {
        let output = try CommandOutput()
        var kept: CommandOutput? = output
        let ending = try run(input, &kept, right)
        return (ending, kept ?? output)
    }

    private func run(
        _ source: CommandInput.Source,
        _ output: inout CommandOutput?,
        _ right: CommandRight?
    ) throws -> Ending {
        defer { output?.close() }
        var input = try CommandInput(source)
        defer { input.close() }
        // What fits the pipe is there before the command starts.
        input.write()
        let program = try spawn(reading: input.reading, writing: output?.writing)
        input.handOver()
        output?.handOver()
        return wait(for: program, &input, &output, right)
    }

    /// - Throws: `Terminated` if a signal has asked this process to end; `CommandFailure`.
    private func spawn(reading input: CInt, writing output: CInt?) throws -> Guardian.Program {
        guard let file = words[0] else { throw CommandFailure.usage("the command to run is missing") }
        // wait(2): while SIGCHLD is ignored, a parent does not learn how a child ended.
        signal(SIGCHLD, SIG_DFL)
        do throws(Errno) {
            // This is the process's first thread, which lives as long as the process.
            Guardian.adoptOrphans()
            // The command decides whether it ends by SIGQUIT; while it goes on, so does this process.
            Signals.endOnQuit()
            return try Guardian.spawn(
                file,
                words,
                input: input,
                output: output,
                resetting: Signals.errorsToReset,
                mayStart: { Signals.pending == nil ? 1 : 0 }
            )
        } catch  where error == .canceled {
            throw Terminated()
        } catch {
            throw CommandFailure(
                error == .noSuchFileOrDirectory ? .commandNotFound : .cannotExecute,
                "cannot run \(String(cString: file).quotedForPeople): \(error.told)"
            )
        }
    }

    private func wait(
        for program: borrowing Guardian.Program,
        _ input: inout CommandInput,
        _ output: inout CommandOutput?,
        _ right: CommandRight?
    ) -> Ending {
        let guardian = program.guardian
        var right = right
        var relay = SignalRelay(to: program)
        while true {
            relay.passOn(to: guardian)
            let limit = right?.enforce(on: guardian)
            // poll(2) leaves negative descriptors out.
            var requests = [
                pollfd(fd: program.news.raw, events: Int16(POLLIN), revents: 0),
                pollfd(fd: input.writing, events: Int16(POLLOUT), revents: 0),
                pollfd(fd: output?.reading ?? -1, events: Int16(POLLIN), revents: 0),
                pollfd(fd: right?.news ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            let patience = limit?.pollMilliseconds ?? -1
            guard poll(&requests, nfds_t(requests.count), patience) > 0 else { continue }
            if requests[1].revents != 0 { input.write() }
            if requests[2].revents != 0 { output?.read() }
            guard requests[0].revents != 0 else { continue }
            // What the command has started may hold the pipe open: what the command wrote is there already.
            output?.read()
            // A signal to the whole process group is handled here before the guardian reports the command's end.
            let isAsked = Signals.pending != nil || right?.isLost ?? false
            if isAsked { Guardian.sweep(guardian) } else { Guardian.leave(guardian) }
            return Self.reap(guardian)
        }
    }

    private static func reap(_ guardian: pid_t) -> Ending {
        var status: Int32 = 0
        // Only signals interrupt it: the guardian is a child of this process, and nothing else waits for it.
        while waitpid(guardian, &status, 0) < 0, errno == EINTR {}
        // A guardian ends by itself. If it was killed, this process has adopted what the command has started.
        if status & 0x7F != 0 { Guardian.endChildren() }
        // What a command has left behind for good has no other process to wait for it.
        while waitpid(-1, nil, WNOHANG) > 0 {}
        return Ending(waitStatus: status)
    }
}
