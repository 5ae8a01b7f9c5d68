import Glibc
import SharedSpace
import SpaceSystem
import SpaceTestSupport
import SpaceTesting
import Testing

/// The commands that the articles and the README show are run, line by line, in one shell for each article.
///
/// A block with commands begins with ```sh. What follows a line as a comment and begins with a number or a bracket is its
/// output. A line that goes on until it is ended (`watch`, `respond`, `--forever`, a wait without a limit) runs until the
/// article's end. Lines that call neither `space` nor `space-dump` build, install or measure, and are not run here.
@Suite("Commands in the articles", .blocking, .timeLimit(.minutes(5)))
struct ArticleCommandTests {

    private static let articles: [String] = {
        let catalogue = "Sources/SharedSpace/SharedSpace.docc"
        guard
            let descriptor = try? OwnedDescriptor.open(
                "\(Repository.folder)/\(catalogue)",
                flags: O_RDONLY | O_DIRECTORY
            ),
            let names = try? Directory.list(descriptor.raw)
        else { return [] }
        return ["README.md"] + names.filter { $0.hasSuffix(".md") }.sorted().map { "\(catalogue)/\($0)" }
    }()

    /// What an article takes as given.
    private static let given = [
        // A repository, and a folder for its agents that is not the user's.
        "CodingAgents": ["export XDG_STATE_HOME=$PWD/state; mkdir .git"],
        "ClaimsAndTransactions": ["space write jobs '[1]'"],
        "Collections": [
            "space write party '[1]'; space items party songs append '\"Grey\"'", "space set app settings/retries 3",
        ],
        "Operations": ["space write jobs '[\"resize\", 1]'"],
        "Recipes": [
            "url=http://localhost/", "space write jobs '[1]'; space write cluster '[1]'; space write bank '[1]'",
        ],
        "Responders": ["space write jobs '[1]'"],
    ]

    /// Programs of the reader's own, and one that is not installed everywhere.
    private static let programs =
        """
        for program in deploy schedule send resize train transfer bin/curl; do printf '#!/bin/sh\\ntrue\\n' > $program; done
        printf '#!/bin/sh\\necho "[1]"\\n' > render
        printf '#!/bin/sh\\nexec tail -f /dev/null\\n' > serve
        cat > bin/jq <<'END'
        #!/bin/sh
        read -r value
        case "$*" in
        '. * 2') echo $((value * 2)) ;;
        '. + 1') echo $((value + 1)) ;;
        '-r .key') printf '%s\\n' "$value" | sed 's/.*"key":"\\([^"]*\\)".*/\\1/' ;;
        *) exit 5 ;;
        esac
        END
        chmod +x deploy schedule send resize train transfer render serve bin/*
        PATH=$PWD/bin:$PATH
        """

    @Test("Each line does what the article says", arguments: articles) func lines(_ article: String) throws {
        let statements = try Self.statements(of: article)
        guard !statements.isEmpty else { return }
        let root = try TemporaryRoot()
        let shell = try Shell(CommandRunner(root: root.path))
        try shell.run("export SHARED_SPACE_OWNER=$$; mkdir \(root.path)/.home; cd \(root.path)/.home; mkdir bin")
        try shell.run(Self.programs)
        let name = article.split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? ""
        for given in Self.given[name] ?? [] { #expect(try shell.run(given).status == 0, "\(given)") }
        for statement in statements {
            if statement.isEndless {
                try shell.start(statement, in: root.space)
            } else {
                // What ends by itself is waited for, also where the article does not.
                let text = statement.text.hasSuffix("&") ? String(statement.text.dropLast()) : statement.text
                let (output, status) = try shell.run(text)
                #expect(status == 0, "\(article): \(statement.text): \(status) \(output)")
                if let expected = statement.output { #expect(output == expected, "\(article): \(statement.text)") }
            }
        }
        try shell.end()
        withExtendedLifetime(root) {}
    }

    @Test("Some articles have commands") func there() throws {
        #expect(try Self.articles.filter { try !Self.statements(of: $0).isEmpty }.count > 6)
    }

    @Test("A block with commands is marked as such", arguments: articles) func marked(_ article: String) throws {
        for (language, lines) in try Self.blocks(of: article) where language != "sh" && language != "swift" {
            #expect(!lines.contains { $0.hasPrefix("space ") || $0.hasPrefix("space-dump ") }, "\(article): \(lines)")
        }
    }

    // MARK: Reading

    fileprivate struct Statement {
        var text: String
        var output: String?

        /// Whether it goes on until it is ended.
        var isEndless: Bool {
            if text.hasSuffix("&") { return !text.hasPrefix("space eval") }
            if text.contains("--forever") || text.contains("while ") { return true }
            if text.hasPrefix("space watch") || text.hasPrefix("space barrier") { return true }
            if text.hasPrefix("space respond"), !text.contains("--list"), !text.contains("--remove") { return true }
            return text.hasSuffix("--wait") || text.contains("--wait -- ")
        }

        /// The namespace that it names.
        var namespace: String? {
            let words = text.split { " $(".contains($0) }
            guard let command = words.firstIndex(of: "space"), command + 2 < words.count else { return nil }
            return String(words[command + 2])
        }
    }

    private static func blocks(of article: String) throws -> [(language: String, lines: [String])] {
        let text = String(
            decoding: try FileBytes.read(at: AT_FDCWD, "\(Repository.folder)/\(article)", limit: 1 << 20),
            as: UTF8.self
        )
        var blocks: [(String, [String])] = []
        var isInside = false
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("```") {
                if !isInside { blocks.append((String(line.dropFirst(3)), [])) }
                isInside.toggle()
            } else if isInside {
                blocks[blocks.count - 1].1.append(line)
            }
        }
        return blocks
    }

    private static func statements(of article: String) throws -> [Statement] {
        var statements: [Statement] = []
        for (language, lines) in try blocks(of: article) where language == "sh" {
            var loop: [String] = []
            for line in lines {
                if line.hasPrefix("while ") || !loop.isEmpty {
                    loop.append(line)
                    guard line == "done" else { continue }
                }
                let (text, comment) = parts(of: loop.isEmpty ? line : loop.joined(separator: "\n"))
                loop = []
                guard text.contains("space ") || text.contains("space-dump "), !text.hasPrefix("export ") else {
                    continue
                }
                let isOutput = comment.first.map { $0.isNumber || "[{".contains($0) } ?? false
                statements.append(Statement(text: text, output: isOutput ? comment : nil))
            }
        }
        return statements
    }

    private static func parts(of line: String) -> (text: String, comment: String) {
        guard let mark = line.firstRange(of: " # ") else { return (line, "") }
        var text = line[..<mark.lowerBound]
        while text.last == " " { text.removeLast() }
        return (String(text), String(line[mark.upperBound...]))
    }
}

/// One shell that runs what it is given.
private final class Shell {
    private let shell: RunningCommand
    private var endless: [(pid: Int32, text: String)] = []
    private static let mark = "@@"

    init(_ runner: CommandRunner) throws {
        shell = try runner.start("/bin/sh", [])
        // Its reader sits at a terminal, where nothing is said of a namespace that the terminal's shell owns.
        try shell.send("export SHARED_SPACE_OWNER=$$\n")
    }

    @discardableResult
    func run(_ statement: String) throws -> (output: String, status: Int32) {
        try shell.send("{ \(statement)\n} < /dev/null 2>&1; echo \(Self.mark) $?\n")
        var lines: [String] = []
        while let line = try shell.readLine() {
            if line.hasPrefix(Self.mark) {
                guard let status = Int32(line.dropFirst(Self.mark.count + 1)) else { break }
                return (lines.joined(separator: "\n"), status)
            }
            lines.append(line)
        }
        throw TestFailure("the shell ended at \(statement)")
    }

    /// Starts a statement, and returns once it watches, waits or answers.
    func start(_ statement: ArticleCommandTests.Statement, in space: Space) throws {
        let name = try #require(statement.namespace)
        /// Whether a process is the one that was started, or descends from it.
        func belongs(_ process: Int32?, to pid: Int32) -> Bool {
            var process = process
            while let known = process, known > 1 {
                if known == pid { return true }
                process = ProcessIdentity.parent(of: known)
            }
            return false
        }
        func isThere(_ pid: Int32) throws -> Bool {
            guard try space.namespaceNames().contains(name) else { return false }
            let status = try space.existingNamespace(name, owning: false).status()
            let all =
                status.watchers.map(\.pid) + status.waiters.map(\.pid) + status.responders.map(\.pid)
                + status.holds.map(\.pid)
            return all.contains { belongs($0, to: pid) }
        }
        let text = statement.text.hasSuffix("&") ? statement.text : "\(statement.text) &"
        let (output, status) = try run("{ \(text) } > /dev/null; echo $!")
        guard status == 0, let pid = Int32(output) else { throw TestFailure("\(statement.text): \(output)") }
        endless.append((pid, statement.text))
        #expect(try eventually { try isThere(pid) }, "\(statement.text)")
    }

    /// Ends what goes on.
    func end() throws {
        for (pid, text) in endless {
            let (_, status) = try run("kill \(pid) 2> /dev/null; wait \(pid)")
            #expect([0, 128 + SIGTERM].contains(status), "\(text): \(status)")
        }
        shell.closeInput()
        _ = try shell.wait()
    }
}
