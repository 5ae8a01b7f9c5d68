import CommandWords
import SharedSpace

/// What a command line asks for.
enum CommandLineRequest {
    /// A command, and the parser that has read its words.
    case command(any ParsableCommand, Parser)
    /// Help and the like.
    case text(String)

    /// Reads a command line.
    ///
    /// Only the declarations of the command that is named are made: those of all would take longer than most commands
    /// run.
    ///
    /// - Throws: `CommandFailure`: usage, or bad data for a word that is not UTF-8.
    init(_ words: [Word], for program: ProgramName) throws {
        var rest = words[...]
        let front = program == .space ? Self.popCommonOptions(&rest) : []
        guard program == .space, let first = rest.first?.text, !first.hasPrefix("-") else {
            if let text = try Self.ownRequest(rest, of: program) {
                self = .text(text)
            } else {
                self = try Self.parse(program.root, [], rest, program)
            }
            return
        }
        rest.removeFirst()
        if first == "help" {
            self = .text(try Self.help(about: rest, of: program))
        } else if let command = program.command(named: first) {
            self = try Self.parse(command, front, rest, program)
        } else {
            throw Self.unknownCommand(first)
        }
    }

    /// Removes the options that may stand in front of a command from the beginning of some words.
    private static func popCommonOptions(_ words: inout ArraySlice<Word>) -> ArraySlice<Word> {
        let all = words
        while let word = words.first?.text, word.hasPrefix("-") {
            guard let option = Declarations(CommonOptions()).named(word.prefix { $0 != "=" }) else { break }
            words = words.dropFirst(option.form == .value && !word.contains("=") ? 2 : 1)
        }
        return all[..<words.startIndex]
    }

    private static func parse<Command: ParsableCommand>(
        _ type: Command.Type,
        _ front: ArraySlice<Word>,
        _ rest: ArraySlice<Word>,
        _ program: ProgramName
    ) throws -> CommandLineRequest {
        switch rest.first?.text {
        case "-h"?, "--help"?:
            return .text(type == SpaceCommand.self ? SpaceCommand.screen() : helpText(type, program))
        case "--version"?: return .text(Version.text(program.rawValue))
        default: break
        }
        var command = type.init()
        var parser = Parser(Declarations(command))
        do throws(ParseError) {
            try parser.read(front)
            try parser.read(rest)
            try parser.check(&command)
        } catch {
            if let other = error.other { throw other }
            if let word = error.notText {
                throw CommandFailure.badData("the word \(word.text.quotedForPeople) is not UTF-8")
            }
            let message = Help.message(error, type, name: program.name(of: type))
            throw CommandFailure.usage(parser.advice.map { "\(message)\n\($0)" } ?? message)
        }
        return .command(command, parser)
    }

    /// What a word in place of a command asks for; `nil` if it asks for nothing of the kind.
    private static func ownRequest(_ words: ArraySlice<Word>, of program: ProgramName) throws -> String? {
        guard let first = words.first?.text, first.hasPrefix("--") else { return nil }
        let rest = words.dropFirst()
        let parts = first.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        switch parts[0] {
        case "--generate-completion-script":
            let name = parts.count > 1 ? String(parts[1]) : rest.first?.text
            guard let shell = name.flatMap(CompletionShell.init(rawValue:)) else {
                let shells = CompletionShell.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure.usage("--generate-completion-script needs the name of a shell: \(shells)")
            }
            return shell.script(for: program.rawValue)
        case "--help-json":
            return HelpObject(program).line
        case _ where first.hasPrefix("---"):
            guard first == CompletionShell.request,
                let shell = rest.first.flatMap({ CompletionShell(rawValue: $0.text) })
            else { throw unknownCommand(first) }
            let typed = Completion.unquoted(rest.dropFirst().map(\.text), from: shell)
            return completion(of: typed.map { Word($0) }[...], shell, program)?.answer(for: shell) ?? ""
        default: return nil
        }
    }
}

// MARK: Help

extension CommandLineRequest {
    /// The word behind `help` that asks for all commands with what they do.
    private static let wholeList = "all"

    private static func helpText(_ command: any ParsableCommand.Type, _ program: ProgramName) -> String {
        let text = Help(command, name: program.name(of: command), width: Terminal.helpWidth).text
        // The list itself is in the help of `space`, and of `dump`, whose statuses are fewer.
        return text.contains("EXIT STATUS:") ? text : "\(text)\n\n\(ExitStatus.hint)"
    }

    /// What `space help SUBJECT` prints; the common options in it mean nothing.
    private static func help(about words: ArraySlice<Word>, of program: ProgramName) throws -> String {
        var rest = words
        var subjects: [String] = []
        repeat {
            _ = popCommonOptions(&rest)
            if let word = rest.popFirst() { subjects.append(word.text) }
        } while !rest.isEmpty
        guard let subject = subjects.first, !["help", "-h", "--help"].contains(subject) else {
            return SpaceCommand.screen()
        }
        if subjects == [wholeList] { return helpText(program.root, program) }
        if subjects.count == 1, let topic = HelpTopic(rawValue: subject) { return topic.text }
        guard let command = program.command(named: subject) else { throw unknownCommand(subject) }
        return helpText(command, program)
    }

    private static func unknownCommand(_ word: String) -> CommandFailure {
        let names = SpaceCommand.configuration.subcommands.map { $0.commandName }
        let nearest = names.map { ($0, distance($0, word)) }.min { $0.1 < $1.1 }
        let meant = MeantCommand.synonym(of: word) ?? nearest.flatMap { $0.1 < 3 && $0.1 < $0.0.count - 1 ? $0.0 : nil }
        let advice = meant.map { "did you mean '\($0)'? " } ?? ""
        return .usage("there is no command \(word.quotedForPeople): \(advice)'space help' lists them")
    }
}

// MARK: Completion

extension CommandLineRequest {
    /// What can be offered for the last of the words that are typed behind the program's name.
    private static func completion(
        of words: ArraySlice<Word>,
        _ shell: CompletionShell,
        _ program: ProgramName
    ) -> Completion? {
        guard program == .space else { return completion(of: words, program.root, shell) }
        var rest = words
        let front = popCommonOptions(&rest)
        // The option's value, or its name, is still being typed.
        guard let first = rest.popFirst()?.text else { return completion(of: front, CommonCommand.self, shell) }
        guard !rest.isEmpty else {
            if first.hasPrefix("-") { return completion(of: [Word(first)], CommonCommand.self, shell) }
            let commands = SpaceCommand.configuration.subcommands.map { ($0.commandName, $0.configuration.abstract) }
            let all = commands + [("help", "Show the help of a command.")]
            return .words(all.filter { $0.0.hasPrefix(first) })
        }
        if first == "help" {
            let names = SpaceCommand.configuration.subcommands.map { $0.commandName }
            let subjects = [wholeList] + names + HelpTopic.allCases.map(\.rawValue)
            return .words(subjects.filter { $0.hasPrefix(rest.last?.text ?? "") }.map { ($0, "") })
        }
        return program.command(named: first).flatMap { completion(of: front + rest, $0, shell) }
    }

    private static func completion(
        of words: ArraySlice<Word>,
        _ command: any ParsableCommand.Type,
        _ shell: CompletionShell
    ) -> Completion? {
        func declarations(of command: (some ParsableCommand).Type) -> Declarations { Declarations(command.init()) }
        return Completion(words.map(\.text), declarations(of: command), shell: shell)
    }

    /// What may stand in front of a command's name.
    private struct CommonCommand: ParsableCommand {
        static let commandName = "space"
        static let configuration = CommandConfiguration(abstract: "")

        @OptionGroup var common: CommonOptions

        func run() {}
    }
}
