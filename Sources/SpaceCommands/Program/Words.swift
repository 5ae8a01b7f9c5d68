// Why the words are arranged before the argument parser reads them: the parser takes every word that begins with a dash
// for an option, also a JSON number like `-5`. It can't tell whether the word after `--wait` is a duration. And its
// options have one value, while `--arg NAME STRING` has two. So the words are put into a form that leaves the parser
// nothing to guess:
//
//     COMMAND, every option as one word (`--name=value`, `-E=3`), `--`, everything that is data
//
// A word that isn't known here passes as it is, and the parser says what is wrong with it.

/// The words of a command line, put into a form that the argument parser reads in one way only.
enum Words {
    /// What follows an option.
    enum Form {
        case flag
        /// One word, whatever it begins with.
        case value
        /// Two words: a name and its value.
        case pair
        /// A duration if the next word is one.
        case optionalDuration
    }

    /// The program whose words they are: `space` has a command as its first word.
    enum Program {
        case space
        case dump
    }

    /// What follows an option; nothing follows a flag, or an option that isn't known.
    ///
    /// This is a switch, not a dictionary: the runtime takes longer to make the dictionary's type than the command to
    /// run.
    static func form(of option: String) -> Form {
        switch option {
        case "--root", "--timeout", "--owner", "--pid", "--field", "--max", "--expires", "--if-equals", "--format",
            "--key", "--keys", "--post", "--posts", "--responder", "--object", "--also", "--set", "--proclaim",
            "--collection", "--events", "--from",
            "--subscription", "--life", "--deadline",
            "--after",
            "--history", "--permits", "--count", "--parties", "--delay", "--priority", "--group", "--deliveries",
            "--unique", "--bound", "--ttr", "--state", "--retry-delay", "--as", "--limit", "--per", "--grace",
            "--type", "--interval", "--sort", "--address", "--port", "--socket", "--clients",
            "--to", "--latency", "--etcd", "--prefix", "--space", "--name", "--cert", "--ca", "--user",
            "--password-file", "--lease",
            "--store", commandWords, "-E",
            "--generate-completion-script":
            .value
        case "--arg", "--argjson": .pair
        case "--wait": .optionalDuration
        default: .flag
        }
    }

    /// Whether a command runs another, whose words come after `--` and pass as they are.
    static func runsAnother(_ command: String) -> Bool { mostWords(before: command) != nil }

    /// The most words that such a command has before `--`; `nil` if it runs no other.
    private static func mostWords(before command: String) -> Int? {
        switch command {
        case "own", "eval": 1
        case "watch", "claim", "respond", "lock", "semaphore", "elect", "rate", "barrier", "latch": 2
        case "queue": .max
        default: nil
        }
    }

    /// The option that says how many of the last words are the command's.
    static let commandWords = "--command-words"

    /// The words in the form that the parser reads.
    ///
    /// - Throws: `CommandFailure` (usage), such as for a malformed duration or an incomplete pair.
    static func arranged(_ words: [String], for program: Program) throws(CommandFailure) -> [String] {
        guard let first = words.first else { return words }
        // The parser's own requests pass: completions begin with `---completion`, and help needs no arranging.
        if first.hasPrefix("---") {
            // The parser would call a request without words an internal error.
            guard words.count > 1 else { throw .unknownCommand(first) }
            return words
        }
        switch program {
        case .space where first == "help":
            return try helpRequest(words.dropFirst())
        case .dump where first == "help":
            return words
        case .dump:
            return try arranged(words[...], command: nil)
        case .space:
            if first.hasPrefix("-") {
                let moved = commandFirst(words)
                return moved.first == first ? words : try arranged(moved, for: program)
            }
            guard SpaceCommand.command(named: first) != nil else { throw .unknownCommand(first) }
            return [first] + (try arranged(words.dropFirst(), command: first))
        }
    }

    /// Moves the options that may stand before the command behind it.
    private static func commandFirst(_ words: [String]) -> [String] {
        var rest = words[...]
        let options = popCommonOptions(&rest)
        guard let command = rest.popFirst() else { return words }
        return [command] + options + rest
    }

    /// Removes `--root` and `--timeout` from the beginning of some words.
    private static func popCommonOptions(_ words: inout ArraySlice<String>) -> [String] {
        var options: [String] = []
        while let word = words.first,
            ["--root", "--timeout"].contains(where: { word == $0 || word.hasPrefix("\($0)=") })
        {
            options.append(words.removeFirst())
            if !word.contains("="), let value = words.popFirst() { options.append(value) }
        }
        return options
    }

    /// Puts a request for help into the parser's form, without `--root` and `--timeout`, which help does not need.
    ///
    /// - Parameter words: What follows `help`.
    /// - Returns: The words.
    /// - Throws: `CommandFailure` (usage) if there is no such command.
    private static func helpRequest(_ words: ArraySlice<String>) throws(CommandFailure) -> [String] {
        var rest = words
        var subjects: [String] = []
        repeat {
            _ = popCommonOptions(&rest)
            if let word = rest.popFirst() { subjects.append(word) }
        } while !rest.isEmpty
        guard let subject = subjects.first, subject != "help" else { return ["help"] }
        if subjects.count == 1, HelpTopic(rawValue: subject) != nil { return ["help-topic", subject] }
        guard SpaceCommand.command(named: subject) != nil else { throw .unknownCommand(subject) }
        return ["help"] + subjects
    }

    private static func arranged(_ words: ArraySlice<String>, command: String?) throws(CommandFailure) -> [String] {
        var rest = words
        var options: [String] = []
        var data: [String] = []
        var tail: ArraySlice<String>?
        while let word = rest.popFirst() {
            if word == "--" {
                tail = rest
                break
            }
            if !word.hasPrefix("-") || word == "-" || isNumber(word) {
                data.append(word)
            } else if word.hasPrefix("--") {
                options.append(try longOption(word, rest: &rest))
            } else {
                options += shortOptions(word, rest: &rest)
            }
        }
        // What `queue NS NAME put` is given is data, also behind '--'.
        let isPut = command == "queue" && data.dropFirst(2).first == "put"
        if let command, !isPut, let most = mostWords(before: command) {
            guard data.count <= most else {
                throw .usage("'\(data[most])' is one word too many: put '--' before the command to run")
            }
            if data.isEmpty, tail?.isEmpty == false {
                throw .usage("the namespace is missing before '--'")
            }
            if let tail, tail.isEmpty { throw .usage("the command to run is missing after '--'") }
            if most > 1, let tail {
                options.append("\(commandWords)=\(tail.count)")
            }
        }
        data += tail ?? []
        return data.isEmpty ? options : options + ["--"] + data
    }

    private static func longOption(_ word: String, rest: inout ArraySlice<String>) throws(CommandFailure) -> String {
        let sign = word.firstIndex(of: "=")
        let name = sign.map { String(word[..<$0]) } ?? word
        let joined = sign.map { word[word.index(after: $0)...] }
        switch form(of: name) {
        case .flag:
            return word
        case .value:
            guard joined == nil, let value = rest.popFirst() else { return word }
            return "\(name)=\(value)"
        case .pair:
            guard joined == nil, rest.count >= 2, let key = rest.popFirst(), let value = rest.popFirst() else {
                throw .usage("\(name) needs two words: a name and a value")
            }
            guard isName(key) else {
                throw .usage("'\(key)' can't be the name of \(name): use letters, digits and _, no digit first")
            }
            return "\(name)=\(key)=\(value)"
        case .optionalDuration:
            guard let candidate = joined ?? rest.first.map({ $0[...] }) else { return word }
            if DurationText.parse(candidate) != nil {
                if joined == nil { rest.removeFirst() }
                return "\(name)=\(candidate)"
            }
            guard joined == nil, !DurationText.resembles(candidate) else {
                throw .usage(
                    "'\(candidate)' is no duration for \(name): write \(DurationText.forms)"
                )
            }
            return word
        }
    }

    /// `-rE3` becomes `-r -E=3`.
    private static func shortOptions(_ word: String, rest: inout ArraySlice<String>) -> [String] {
        var options: [String] = []
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard case .value = form(of: "-\(letter)") else {
                options.append("-\(letter)")
                continue
            }
            if letters.first == "=" { letters.removeFirst() }
            if letters.isEmpty, let next = rest.popFirst() {
                options.append("-\(letter)=\(next)")
            } else {
                options.append(letters.isEmpty ? "-\(letter)" : "-\(letter)=\(letters)")
            }
            break
        }
        return options
    }

    /// Whether a word is a JSON number (RFC 8259, section 6) that begins with its sign.
    static func isNumber(_ word: String) -> Bool {
        var rest = Array(word.utf8)[...]
        func digits() -> Int {
            let found = rest.prefix { (0x30...0x39).contains($0) }
            rest = rest.dropFirst(found.count)
            return found.count
        }
        guard rest.popFirst() == UInt8(ascii: "-") else { return false }
        let leadingZero = rest.first == UInt8(ascii: "0")
        let whole = digits()
        guard whole > 0, !(leadingZero && whole > 1) else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits() > 0 else { return false }
        }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { rest.removeFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }

    /// Whether a word can follow `$` as a token in JSON.
    static func isName(_ word: String) -> Bool {
        guard let first = word.utf8.first, !(0x30...0x39).contains(first) else { return false }
        return word.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default:
                false
            }
        }
    }
}
