import SpaceSystem

/// Whether a process ends the command that it runs when a time limit has passed, judged by its command line.
///
/// Recognized are `space queue … take --ttr D -- CMD`, `space eval --wait D … -- CMD`, and timeout(1) with a time above 0
/// and a signal whose default action ends a process.
enum CommandLimit {
    static func isSet(by pid: Int32) -> Bool {
        if let words = ProcessIdentity.wordsBeforeCommand(of: pid, runner: WaitGraph.runner) {
            return isSet(byRunner: words)
        }
        return ProcessIdentity.words(of: pid, program: "timeout").map { isSet(byTimeout: $0) } ?? false
    }

    /// Whether the words between `space` and `--` set a limit.
    static func isSet(byRunner words: [String]) -> Bool {
        // A duration begins with a digit; `--wait` without a duration sets no limit.
        switch command(in: words) {
        case "queue": value(of: "--ttr", in: words) != nil
        case "eval": value(of: "--wait", in: words) != nil
        default: false
        }
    }

    /// The first word that is neither an option that may come before the command, nor the value of such an option.
    private static func command(in words: [String]) -> String? {
        var rest = words[...]
        while let word = rest.popFirst() {
            if word == "--root" || word == "--timeout" {
                rest = rest.dropFirst()
            } else if !word.hasPrefix("-") {
                return word
            }
        }
        return nil
    }

    private static func value(of option: String, in words: [String]) -> Substring? {
        for (index, word) in words.enumerated() {
            var value: Substring?
            if word.hasPrefix("\(option)=") {
                value = word.dropFirst(option.count + 1)
            } else if word == option {
                value = words.dropFirst(index + 1).first.map { Substring($0) }
            }
            if let value, value.first?.isNumber == true { return value }
        }
        return nil
    }

    /// Whether the words after `timeout` set a limit: options, the time, and the command.
    static func isSet(byTimeout words: [String]) -> Bool {
        var rest = words[...]
        var signal = "TERM"
        var isKilled = false
        while let word = rest.first, word.hasPrefix("-") {
            rest.removeFirst()
            if word == "--" { break }
            let (name, value) = option(word, &rest)
            switch name {
            case "-s", "--signal": signal = value.uppercased()
            case "-k", "--kill-after": isKilled = isPositive(value)
            default: break
            }
        }
        if signal.hasPrefix("SIG") { signal.removeFirst(3) }
        guard let time = rest.first, rest.count > 1, isPositive(time) else { return false }
        return isKilled || endings.contains(signal)
    }

    /// The names and numbers of the signals whose default action ends a process (signal(7)).
    private static let endings: Set<String> = ["TERM", "KILL", "INT", "HUP", "QUIT", "15", "9", "2", "1", "3"]

    /// An option and its value, which stands in its word, or is the next.
    private static func option(_ word: String, _ rest: inout ArraySlice<String>) -> (name: String, value: String) {
        if word.hasPrefix("--") {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            if parts.count == 2 { return (parts[0], parts[1]) }
            let hasValue = word == "--signal" || word == "--kill-after"
            return (word, hasValue ? rest.popFirst() ?? "" : "")
        }
        let name = String(word.prefix(2))
        guard name == "-s" || name == "-k" else { return (name, "") }
        return (name, word.count > 2 ? String(word.dropFirst(2)) : rest.popFirst() ?? "")
    }

    /// Whether a time of timeout(1) is above 0: a number, and perhaps a unit.
    private static func isPositive(_ time: String) -> Bool {
        Double(time.last?.isLetter == true ? String(time.dropLast()) : time).map { $0 > 0 } ?? false
    }
}
