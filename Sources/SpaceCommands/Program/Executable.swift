import ArgumentParser
import Glibc
import SharedSpace

/// What the executables' `main` calls: arranges the words, runs the command, and turns its ending into an exit status.
package enum Executable {
    /// Runs `space`, the shell helper.
    package static func space() -> Never {
        run(SpaceCommand.self, .space, name: "space")
    }

    /// Runs `space-dump`, the inspector.
    package static func dump() -> Never {
        run(DumpCommand.self, .dump, name: "space-dump")
    }

    private static func run(_ root: any ParsableCommand.Type, _ program: Words.Program, name: String) -> Never {
        // This comes first, so that the exit of the parent from here on is noticed.
        _ = Launch.parent
        occupyStandardDescriptors()
        Signals.install()
        let status = execute(root, program, name: name)
        // The command has left every namespace by now: death by a signal runs no exit handlers.
        if let number = Signals.pending { Signals.die(by: number) }
        exit(status.rawValue)
    }

    private static func execute(
        _ root: any ParsableCommand.Type,
        _ program: Words.Program,
        name: String
    ) -> ExitStatus {
        do {
            let words = try Words.arranged(arguments(), for: program)
            var command = try parse(words, root)
            try command.run()
            return .done
        } catch {
            return report(error, root, name: name)
        }
    }

    /// The words after the program's name.
    ///
    /// They come from argv, because `CommandLine.arguments` reads them from /proc.
    ///
    /// - Throws: `CommandFailure` (bad data) for a word that is not UTF-8, which would silently become another word.
    ///   The words of a command to run may be anything: the command gets them as they are.
    private static func arguments() throws(CommandFailure) -> [String] {
        // Swift's runtime reads the words from /proc: if that isn't mounted, it finds none, not even the program's
        // name.
        guard CommandLine.argc > 0 else {
            throw CommandFailure(
                .unavailable,
                "cannot read the command line: /proc is not there; mount it (mount -t proc proc /proc)"
            )
        }
        var words: [String] = []
        var isForeign = false
        for position in 1..<max(1, Int(CommandLine.argc)) {
            guard let word = CommandLine.unsafeArgv[position] else { break }
            if let text = String(validatingCString: word) {
                words.append(text)
                if text == "--", let command = words.first, Words.runsAnother(command) { isForeign = true }
            } else if isForeign {
                words.append(String(cString: word))
            } else {
                throw .badData("argument \(position), \(String(cString: word).quotedForPeople), is not UTF-8")
            }
        }
        return words
    }

    /// Parses a subcommand's words without looking at all the other subcommands, which would take as long again.
    ///
    /// If that fails, or the words ask for help, they are parsed from the root: only then messages, help and usage name
    /// the whole command.
    private static func parse(_ words: [String], _ root: any ParsableCommand.Type) throws -> any ParsableCommand {
        if let name = words.first, let type = SpaceCommand.command(named: name), root == SpaceCommand.self,
            let command = try? type.parseAsRoot(Array(words.dropFirst())), Swift.type(of: command) == type
        {
            return command
        }
        return try root.parseAsRoot(words)
    }

    /// Prints the message of an error, and returns its status.
    private static func report(_ error: any Error, _ root: any ParsableCommand.Type, name: String) -> ExitStatus {
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
            return report(error.failure, root, name: name)
        case let error as SpaceError:
            if !(Messages.isQuiet && error.isSaidByStatus) { Messages.print("\(name): \(error)") }
            return ExitStatus(error.code)
        case let error as TupleCodingError:
            Messages.print("\(name): \(error)")
            return .badData
        default:
            return reportParsing(error, root, name: name)
        }
    }

    /// Prints what the parser throws: help and completion scripts, which are data, and errors of the command line.
    private static func reportParsing(_ error: any Error, _ root: any ParsableCommand.Type, name: String) -> ExitStatus
    {
        let code = root.exitCode(for: error)
        let text = root.fullMessage(for: error)
        guard code.isSuccess else {
            if !text.isEmpty { Messages.print(text + dashHint(for: text)) }
            // The errors that the parser finds are about usage. Any other error here is unexpected.
            return code == .validationFailure ? .usage : .internal
        }
        do {
            if !text.isEmpty { try Output.print(line: text) }
            // The list itself is in the help of the two programs.
            if text.hasPrefix("OVERVIEW: "), !text.contains("EXIT STATUS:") {
                try Output.print(lines: (text.hasSuffix("\n") ? [] : [""]) + [ExitStatus.hint])
            }
            return .done
        } catch {
            return report(error, root, name: name)
        }
    }

    /// A hint for a string that the parser took for an option.
    private static func dashHint(for text: String) -> String {
        let isMeant = text.contains("Missing expected argument") || text.contains("Unknown option")
        guard isMeant, CommandLine.arguments.contains(where: ["-s", "--string", "--strings"].contains) else {
            return ""
        }
        return "\nA value that begins with a dash goes behind --, such as: set NS KEY -s -- --verbose"
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
