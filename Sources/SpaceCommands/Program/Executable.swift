import ArgumentParser
import Glibc
import SharedSpace

/// What the executables' `main` calls: arranges the words, runs the command, and turns how it ended into a status.
package enum Executable {
    /// The shell helper.
    package static func space() -> Never {
        run(SpaceCommand.self, .space, name: "space")
    }

    /// The inspector.
    package static func dump() -> Never {
        run(DumpCommand.self, .dump, name: "space-dump")
    }

    private static func run(_ root: any ParsableCommand.Type, _ program: Words.Program, name: String) -> Never {
        // First of all: a parent that exits from here on is noticed.
        _ = Launch.parent
        occupyStandardDescriptors()
        Signals.install()
        let status = execute(root, program, name: name)
        // By now every namespace was left: death by a signal runs no exit handlers.
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

    /// The words after the program's name, from argv: `CommandLine.arguments` reads them from /proc.
    ///
    /// - Throws: `CommandFailure` (bad data) for a word that is not UTF-8, which would silently become another. The words of a
    ///   command to run are the exception: they go to it as they are.
    private static func arguments() throws(CommandFailure) -> [String] {
        // Swift's runtime reads the words from /proc, and finds not even the program's name where that isn't mounted.
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

    /// Parses a subcommand's words without looking at all the others, which would take as long again.
    ///
    /// What doesn't parse that way is parsed from the root: only then messages, help and usage name the whole command.
    private static func parse(_ words: [String], _ root: any ParsableCommand.Type) throws -> any ParsableCommand {
        if let name = words.first, let type = SpaceCommand.frequent(name), root == SpaceCommand.self,
            let command = try? type.parseAsRoot(Array(words.dropFirst()))
        {
            return command
        }
        return try root.parseAsRoot(words)
    }

    /// Prints what is to be said about an error, and gives its status.
    private static func report(_ error: any Error, _ root: any ParsableCommand.Type, name: String) -> ExitStatus {
        switch error {
        case is Terminated:
            return .nothing
        case let error as SpaceError where error.code == .cancelled:
            // A signal has ended a wait of the library: the process dies by it, and prints nothing.
            return .nothing
        case let error as CommandFailure:
            if let message = error.message { Messages.print("\(name): \(message)") }
            return error.status
        case let error as OutputFailure:
            return report(error.failure, root, name: name)
        case let error as SpaceError:
            Messages.print("\(name): \(error)")
            return ExitStatus(error.code)
        case let error as TupleCodingError:
            Messages.print("\(name): \(error)")
            return .badData
        default:
            return reportParsing(error, root, name: name)
        }
    }

    /// The parser's own: help and completion scripts, which are data, and what is wrong with the command line.
    private static func reportParsing(_ error: any Error, _ root: any ParsableCommand.Type, name: String) -> ExitStatus
    {
        let code = root.exitCode(for: error)
        let text = root.fullMessage(for: error)
        guard code.isSuccess else {
            if !text.isEmpty { Messages.print(text) }
            // Everything that the parser finds is about usage; whatever else comes here nobody has thought of.
            return code == .validationFailure ? .usage : .internal
        }
        do {
            if !text.isEmpty { try Output.print(line: text) }
            return .done
        } catch {
            return report(error, root, name: name)
        }
    }

    /// Opens /dev/null on 0, 1 and 2 where a caller has closed them: a database opened as descriptor 1 would be printed into.
    ///
    /// Read-only, so that printing to a closed standard output fails as it should.
    private static func occupyStandardDescriptors() {
        for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 && errno == EBADF {
            // The lowest free number is taken, and all below are in use.
            _ = open("/dev/null", O_RDONLY)
        }
    }
}
