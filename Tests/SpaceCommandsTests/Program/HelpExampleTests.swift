import CommandWords
import SpaceTestSupport
import SpaceTesting
import Testing

@testable import SpaceCommands

/// The examples in the help of every command are lines that the command takes.
@Suite("Examples in the help", .blocking, .timeLimit(.minutes(5)))
struct HelpExampleTests {
    private static let examples: [String] = {
        let commands: [any ParsableCommand.Type] =
            [SpaceCommand.self] + SpaceCommand.configuration.subcommands
        let texts = commands.map { $0.configuration.discussion } + HelpTopic.allCases.map(\.text)
        return texts.flatMap { text in
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            return lines.drop { !$0.hasPrefix("EXAMPLE") }.dropFirst().prefix { $0.hasPrefix("  ") }.map(String.init)
        }
    }()

    /// A shell splits each line into words, and runs what is called `space` and `space-dump`: programs that write their
    /// words down.
    @Test("Each example parses") func parse() throws {
        #expect(Self.examples.count > 90)
        let root = try TemporaryRoot()
        let runner = CommandRunner(root: root.path)
        let prepared = try runner.shell(
            """
            mkdir \(root.path)/bin && cd \(root.path)/bin
            for name in space space-dump; do
                # One write for all words, because two programs of a pipeline write at the same time.
                printf '#!/bin/sh\\nwords=$(printf "%%s\\\\036" "%s" "$@"; echo .); printf "%%s\\\\035" "${words%%.}" >> %s; exit 1\\n' \
                    $name $PWD/words > $name
                chmod +x $name
            done
            """
        )
        #expect(prepared.ending == .exited(0), "\(prepared.errors)")
        for example in Self.examples {
            let seen = try runner.shell(
                """
                cd \(root.path)/bin; : > words; PATH=$PWD:/usr/bin:/bin; id=7 seq=7 life=0123456789abcdef server=1 name=n f=f
                ( \(example)
                wait ) > /dev/null 2>&1 < /dev/null
                cat words
                """
            )
            let calls = seen.output.split(separator: "\u{1D}").map {
                $0.split(separator: "\u{1E}", omittingEmptySubsequences: false).dropLast().map(String.init)
            }
            #expect(!calls.isEmpty, "\(example)")
            for call in calls {
                #expect(throws: Never.self, "\(example): \(call)") { try Self.parse(call) }
            }
        }
        withExtendedLifetime(root) {}
    }

    private static func parse(_ call: [String]) throws {
        _ = try CommandLineRequest(call.dropFirst().map { Word($0) }, for: call.first == "space" ? .space : .dump)
    }
}
