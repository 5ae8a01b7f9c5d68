import Testing

@testable import CommandWords

@Suite("Words of a command line")
struct ParserTests {
    /// A command that has one of each kind of declaration.
    struct Command: ParsableCommand {
        static let commandName = "try"
        static let configuration = CommandConfiguration(abstract: "")

        @OptionGroup var shared: Shared
        @Option(defaultAsFlag: Limit.none, help: "") var wait: Limit?
        @Option(name: .customShort("E")) var status: Int?
        @Option var max = 7
        @Option var pairs: [Pair] = []
        @Option var also: [String] = []
        @Flag(name: [.customShort("r"), .customLong("raw")]) var raw = false
        @Flag(inversion: .prefixedNo) var create = true
        @Flag var eachCommit = false
        @Argument var namespace: String
        @Argument var key: String
        @Argument var words: [String] = []

        func run() {}
    }

    struct Shared: ParsableArguments {
        @Option() var root: String?

        func validate() throws { if root == "" { throw ValidationError("an empty root") } }
    }

    /// One with another command behind `--`.
    struct Runner: ParsableCommand {
        static let commandName = "run"
        static let configuration = CommandConfiguration(abstract: "")

        @Argument var namespace: String
        @Argument() var name: String?
        @Tail var command: [Word]?

        func run() {}
    }

    enum Limit: ExpressibleByArgument {
        case none
        case seconds(Int)

        init?(argument: String) {
            guard let number = Int(argument), number >= 0 else { return nil }
            self = .seconds(number)
        }

        static func resembles(_ word: String) -> Bool { word.first?.isNumber ?? false }

        var seconds: Int? {
            if case .seconds(let number) = self { number } else { nil }
        }
    }

    struct Pair: ExpressibleByPair {
        let text: String
        init(name: String, value: String) throws(ValidationError) {
            if name.isEmpty { throw ValidationError("no name") }
            text = "\(name)=\(value)"
        }
    }

    private func parsed<Command: ParsableCommand>(_ type: Command.Type, _ words: [Word]) throws -> Command {
        var command = type.init()
        var parser = Parser(Declarations(command))
        try parser.read(words[...])
        try parser.check(&command)
        return command
    }

    private func parsed(_ words: Word...) throws -> Command { try parsed(Command.self, words) }

    private func message(_ words: Word...) -> String? {
        do {
            _ = try parsed(Command.self, words)
            return nil
        } catch {
            return (error as? ParseError)?.message
        }
    }

    @Test("Options stand anywhere, by their whole name")
    func order() throws {
        let command = try parsed("a", "--root", "/r", "k", "--raw", "-E", "3", "--each-commit", "v", "--max=9")
        #expect(command.namespace == "a" && command.key == "k" && command.words == ["v"])
        #expect(command.shared.root == "/r" && command.raw && command.status == 3)
        #expect(command.eachCommit && command.max == 9 && command.create)
        let plain = try parsed("a", "k", "--no-create")
        #expect(!plain.create && plain.words.isEmpty && plain.max == 7 && plain.wait == nil && plain.status == nil)
    }

    @Test(
        "Behind the namespace a word is data as it stands",
        arguments: ["-hello", "-h", "--help", "--version", "-hat.png", "-", "", "--weit", "--weit=5", "-rE3", "-r3"]
    )
    func data(_ word: String) throws {
        #expect(try parsed("a", Word(word)).key == word)
        #expect(try parsed("a", "k", Word(word), "x").words == [word, "x"])
        #expect(try parsed("-r", "a", "k", Word(word)).words == [word])
    }

    @Test(
        "In front of the namespace, an unknown word that begins with a dash is refused",
        arguments: ["-h", "-x", "--y"]
    )
    func unknown(_ word: String) {
        #expect(message(Word(word), "a", "k")?.hasPrefix("Unknown option '\(word)'") == true)
    }

    @Test("Where no data can stand, too, and a mistyped option is suggested")
    func noPlace() throws {
        #expect(throws: ParseError.self) { try parsed(Runner.self, ["a", "n", "-hello", "--", "x"]) }
        #expect(throws: ParseError.self) { try parsed(Runner.self, ["a", "n", "more", "--", "x"]) }
        #expect(message("--weit", "a", "k") == "Unknown option '--weit'. Did you mean '--wait'?")
        var parser = Parser(Declarations(Command()))
        try parser.read(["a", "--weit"])
        #expect(parser.suspects == ["--weit"] && parser.advice?.contains("--wait") == true)
    }

    @Test("JSON numbers are data", arguments: ["-5", "-0", "-0.5", "-1e9", "-0.5e-3", "-12E+4"])
    func numbers(_ number: String) throws {
        #expect(Parser.isNumber(number))
        #expect(try parsed(Word(number), "k").namespace == number)
    }

    @Test(
        "What only looks like a number is none",
        arguments: ["-", "-05", "-.5", "-5.", "-1e", "-5x", "--5", "-r5", "5"]
    )
    func noNumbers(_ word: String) { #expect(!Parser.isNumber(word)) }

    @Test("The value of an option is the next word, whatever it begins with")
    func values() throws {
        #expect(try parsed("--root", "--raw", "a", "k").shared.root == "--raw")
        #expect(try parsed("--root=--", "a", "k").shared.root == "--")
        #expect(message("--root", "--", "a", "k")?.hasPrefix("Missing value for '--root") == true)
        #expect(message("a", "k", "--max", "1\n2")?.hasPrefix("The value '1\\n2' is invalid") == true)
        #expect(try parsed("--root=-x=y", "a", "k").shared.root == "-x=y")
        #expect(try parsed("--root=\u{301}", "a", "k").shared.root == "\u{301}")
        #expect(message("a", "k", "--max") == "Missing value for '--max <max>'")
        #expect(message("a", "k", "--max", "x")?.hasPrefix("The value 'x' is invalid for '--max <max>'") == true)
        #expect(message("a", "k", "--raw=1") != nil)
        #expect(try parsed("--max", "1", "--max", "2", "a", "k").max == 2)
        #expect(try parsed("--also", "1", "a", "--also=2", "k").also == ["1", "2"])
    }

    @Test("A value that may be left out is taken only if it is one")
    func optionalValues() throws {
        #expect(try parsed("a", "k", "--wait", "5").wait?.seconds == 5)
        #expect(try parsed("a", "k", "--wait=5").wait?.seconds == 5)
        let bare = try parsed("a", "--wait", "k")
        #expect(bare.wait != nil && bare.wait?.seconds == nil && bare.key == "k")
        #expect(try parsed("a", "k", "--wait").wait != nil)
        #expect(try parsed("a", "k", "--wait", "--", "5").words == ["5"])
        #expect(message("a", "k", "--wait", "5x") != nil && message("a", "k", "--wait=soon") != nil)
    }

    @Test("A pair has two words, whatever they begin with")
    func pairs() throws {
        #expect(try parsed("--pairs", "x", "-r", "a", "k", "--pairs", "y", "--").pairs.map(\.text) == ["x=-r", "y=--"])
        #expect(message("a", "k", "--pairs", "x") != nil && message("a", "k", "--pairs=x", "y") != nil)
        #expect(message("a", "k", "--pairs", "", "y") == "--pairs: no name")
    }

    @Test("Short options may stand together in front of the namespace")
    func clusters() throws {
        let command = try parsed("-rE7", "a", "k")
        #expect(command.raw && command.status == 7)
        #expect(try parsed("-E=7", "a", "k").status == 7)
        #expect(try parsed("a", "k", "-E=7").status == 7)
        #expect(message("-rx", "a", "k") != nil)
    }

    @Test("-- ends the options")
    func terminator() throws {
        #expect(try parsed("a", "--", "--raw", "--", "-E").words == ["--", "-E"])
        #expect(try parsed("--", "-a", "k").namespace == "-a")
        let runner = try parsed(Runner.self, ["a", "n", "--", "cmd", "--", "-h", "--wait"])
        #expect(runner.command?.map(\.text) == ["cmd", "--", "-h", "--wait"] && runner.name == "n")
        #expect(try parsed(Runner.self, ["a"]).command == nil)
        #expect(throws: ParseError.self) { try parsed(Runner.self, ["a", "--"]) }
        #expect(throws: ParseError.self) { try parsed(Runner.self, ["--", "x"]) }
    }

    @Test("A word that is not UTF-8 is taken only as one of another command's")
    func foreign() throws {
        let word = Word("?", isText: false)
        #expect(throws: ParseError.self) { try parsed("a", word) }
        #expect(throws: ParseError.self) { try parsed("a", "k", "--root", word) }
        #expect(try parsed(Runner.self, ["a", "--", word]).command == [word])
    }

    @Test("What must be given is asked for, and groups check themselves")
    func checks() {
        #expect(message("a") == "Missing expected argument '<key>'")
        #expect(message("a", "k", "--root", "") == "an empty root")
    }
}

@Suite("Completion of a line")
struct CompletionTests {
    typealias Command = ParserTests.Command

    private func offered(_ words: String...) -> Completion? {
        Completion(words, Declarations(Command()), shell: .bash)
    }

    private func names(_ words: String...) -> [String]? {
        guard case .words(let found)? = Completion(words, Declarations(Command()), shell: .bash) else { return nil }
        return found.map(\.word)
    }

    @Test("Options are offered where one is begun")
    func options() {
        #expect(names("a", "--ma") == ["--max"])
        #expect(
            names("--") == [
                "--root", "--wait", "--max", "--pairs", "--also", "--raw", "--create", "--no-create", "--each-commit",
            ]
        )
        #expect(offered("a", "--", "--ma") == nil && offered("--max", "") == nil)
        let runner = Completion(["a", "--", "x"], Declarations(ParserTests.Runner()), shell: .bash)
        #expect(runner == .files)
    }

    @Test("Each shell's script asks the program", arguments: CompletionShell.allCases)
    func scripts(_ shell: CompletionShell) {
        let script = shell.script(for: "space-dump")
        #expect(script.contains("\(CompletionShell.request) \(shell.rawValue)") && script.contains("_space_dump"))
    }

    @Test("Quotes and backslashes of a typed word are removed, and nothing is expanded")
    func unquoted() {
        #expect(
            Completion.unquoted(["a\\ b", "'$x'", "\"a\\$b\\c\"", "a\" b\""], from: .zsh) == [
                "a b", "$x", "a$b\\c", "a b",
            ]
        )
        #expect(Completion.unquoted(["a\\ b", "a\\ b"], from: .fish) == ["a\\ b", "a b"])
    }
}
