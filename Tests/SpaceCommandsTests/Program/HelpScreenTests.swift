import CommandWords
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCommands

@Suite("The help on one screen", .blocking, .timeLimit(.minutes(5)))
struct HelpScreenTests {
    private let runner = CommandRunner(root: "/nonexistent/space-root")

    private static let commands = SpaceCommand.configuration.subcommands

    private func run(_ words: [String]) throws -> CommandResult {
        try runner.start("space", words, environment: ["COLUMNS": "80"]).finish()
    }

    /// Without a word the screen is part of a message about wrong usage.
    @Test("It is at most 30 lines of 80 columns", arguments: [[], ["help"], ["--help"]])
    func size(_ words: [String]) throws {
        let result = try run(words)
        #expect(result.ending == .exited(words.isEmpty ? 64 : 0))
        #expect((words.isEmpty ? result.output : result.errors) == "")
        let text = words.isEmpty ? result.errors : result.output
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        #expect(lines.count <= 30, "\(text)")
        #expect(lines.allSatisfy { $0.count <= 80 }, "\(text)")
        for topic in HelpTopic.allCases { #expect(text.contains(" \(topic.rawValue)"), "\(topic)") }
        #expect(text.contains("space help all") && text.contains("space help COMMAND"))
    }

    @Test("It explains ten commands, and names each other one once")
    func contents() throws {
        let lines = try run(["help"]).lines
        for command in Self.commands {
            let (name, abstract) = (command.commandName, command.configuration.abstract)
            let explained = lines.filter { $0.hasPrefix("  \(name) ") && $0.hasSuffix(abstract) }
            #expect(explained.count == (command.configuration.isEssential ? 1 : 0), "\(name)")
        }
        #expect(Self.commands.count { $0.configuration.isEssential } == 10)
        let others = lines.drop { $0 != "MORE COMMANDS:" }.dropFirst().prefix { $0.hasPrefix("  ") }
        let names = others.flatMap { $0.dropFirst(26).split(separator: " ").map(String.init) }
        #expect(names == Self.commands.filter { !$0.configuration.isEssential }.map { $0.commandName })
    }

    @Test("The whole list says what each command does, and the exit statuses")
    func whole() throws {
        let result = try run(["help", "all"])
        #expect(result.ending == .exited(0) && result.errors == "")
        let lines = result.lines
        for command in Self.commands {
            #expect(lines.contains { $0.hasPrefix("  \(command.commandName) ") }, "\(command.commandName)")
        }
        #expect(result.output.contains("EXIT STATUS:"))
        #expect(try run(["help", "all", "take"]).ending == .exited(64))
    }

    @Test("A line that begins with help is completed with commands, topics and the whole list")
    func completion() throws {
        let words = try run(["---complete", "bash", "help", "a"]).lines
        #expect(words == ["words", "all", "agents"])
    }
}
