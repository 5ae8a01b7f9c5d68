import CommandWords
import Glibc
import SharedSpace
import Synchronization
import SystemPackage

/// What the executable's `main` calls: reads the words, runs the command, and turns its ending into an exit status.
package enum Executable {
    /// Runs what the program's own name stands for: `space`, the shell helper, or `space-dump`, the inspector.
    ///
    /// - Parameter connect: Connects the daemon `space join` with its store, in a program that can be that daemon.
    package static func run(connectingBy connect: StoreMaker? = nil) -> Never {
        // This comes first, so that the exit of the parent from here on is noticed.
        _ = Launch.parent
        occupyStandardDescriptors()
        Signals.install()
        JoinCommand.connect.withLock { $0 = connect }
        let status = execute(.own)
        // The command has left every namespace by now: death by a signal runs no exit handlers.
        if let number = Signals.death(insteadOf: status) { Signals.die(by: number) }
        exit(status.rawValue)
    }

    private static func execute(_ program: ProgramName) -> ExitStatus {
        do {
            switch try CommandLineRequest(try words(), for: program) {
            case .text(let text):
                do {
                    try Output.print(line: text)
                } catch let error as OutputFailure where error.cause == .brokenPipe {
                    // The reader has seen as much of the help as it wanted.
                }
            case .command(var command, let parser):
                do {
                    try command.run()
                } catch {
                    let status = report(error, name: program.rawValue)
                    if [.usage, .badData].contains(status), let advice = parser.advice { Messages.print(advice) }
                    return status
                }
            }
            return .done
        } catch {
            return report(error, name: program.rawValue)
        }
    }

    /// The words after the program's name.
    ///
    /// They come from argv, because `CommandLine.arguments` reads them from /proc.
    ///
    /// - Throws: `CommandFailure` (unavailable) if there is no argv.
    private static func words() throws(CommandFailure) -> [Word] {
        // Swift's runtime reads the words from /proc: if that isn't mounted, it finds none, not even the program's
        // name.
        guard CommandLine.argc > 0 else {
            throw CommandFailure(
                .unavailable,
                "cannot read the command line: /proc is not there; mount it (mount -t proc proc /proc)"
            )
        }
        return (1..<max(1, Int(CommandLine.argc))).compactMap { position in
            CommandLine.unsafeArgv[position].map { word in
                String(validatingCString: word).map { Word($0) } ?? Word(String(cString: word), isText: false)
            }
        }
    }

    /// Prints the message of an error, and returns its status.
    private static func report(_ error: any Error, name: String) -> ExitStatus {
        switch error {
        case is Terminated:
            return .nothing
        case let error as SpaceError where error.code == .cancelled:
            // A signal has ended a wait of the library: the process dies by it, and prints nothing.
            return .nothing
        case let error as CommandFailure:
            if let message = error.message, !(Messages.isQuiet && error.isOfNothing) {
                Messages.print("\(name): \(message)")
            }
            return error.status
        case let error as OutputFailure:
            return report(error.failure, name: name)
        case let error as SpaceError:
            if !(Messages.isQuiet && error.isSaidByStatus) { Messages.print("\(name): \(error)") }
            return ExitStatus(error.code)
        case let error as TupleCodingError:
            Messages.print("\(name): \(error)")
            return .badData
        default:
            Messages.print("\(name): \(error)")
            return error is ValidationError ? .usage : .internal
        }
    }

    /// Opens /dev/null on 0, 1 and 2 if the caller has closed them: printing would write into a database opened as
    /// descriptor 1.
    ///
    /// It is opened so that reading a closed standard input, and printing to a closed standard output, still fail.
    private static func occupyStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // open(2) takes the lowest free number, and all below are in use.
            _ = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
