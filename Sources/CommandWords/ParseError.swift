/// What is wrong with the words of a command line.
package struct ParseError: Error {
    /// What is wrong, for the user.
    package let message: String
    /// What the help says of the option or argument with which it is.
    let help: String?
    /// Whether the words would have been right, had they gone on.
    let isOfMissingWord: Bool
    /// A word that is not UTF-8 where text is needed.
    package let notText: Word?
    /// What a command's own check threw that is no `ValidationError`.
    package let other: (any Error)?

    init(_ message: String, about subject: Declaration? = nil, isOfMissingWord: Bool = false) {
        self.init(message, about: subject, isOfMissingWord: isOfMissingWord, notText: nil, other: nil)
    }

    init(notText word: Word) { self.init("a word is not UTF-8", notText: word, other: nil) }

    init(other: any Error) { self.init("\(other)", notText: nil, other: other) }

    private init(
        _ message: String,
        about subject: Declaration? = nil,
        isOfMissingWord: Bool = false,
        notText: Word?,
        other: (any Error)?
    ) {
        self.message = message
        help = subject.flatMap { $0.help.abstract.isEmpty ? nil : "\($0.title)  \($0.help.abstract)" }
        self.isOfMissingWord = isOfMissingWord
        self.notText = notText
        self.other = other
    }

    init(unknown word: String, _ declarations: Declarations) {
        let isHelp = ["-h", "--help"].contains(word)
        let advice =
            isHelp ? " here: help is asked for directly behind the command" : declarations.suggestion(for: word)
        self.init("Unknown option '\(Self.line(word))'\(advice)")
    }

    /// A word in one line; all other control characters are escaped where an error is printed.
    private static func line(_ word: String) -> String {
        word.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
    }

    init(invalid word: String, for place: Declaration, _ suspects: [String], _ declarations: Declarations) {
        var message = "The value '\(Self.line(word))' is invalid for '\(place.title)'"
        let values = place.allValueStrings
        if values.count > 5 {
            message += ". Please provide one of the following:" + values.map { "\n  - \($0)" }.joined()
        } else if let last = values.last {
            let first = values.dropLast().map { "'\($0)'" }.joined(separator: ", ")
            message += ". Please provide one of \(first)\(first.isEmpty ? "" : " or ")'\(last)'."
        } else if let forms = place.forms {
            message += ": write \(forms)"
        }
        if suspects.contains(word) { message += declarations.suggestion(for: word) }
        self.init(message, about: place)
    }
}

extension Declarations {
    /// The sentence that asks whether an option was meant that is called almost like a word; empty if none is.
    package func suggestion(for word: String) -> String {
        let name = String(word.prefix { $0 != "=" })
        let names = displayed.flatMap(\.allNames).filter { $0.hasPrefix("--") }
        let nearest = names.map { ($0, distance($0, name)) }.min { $0.1 < $1.1 }
        guard let nearest, nearest.1 < 4, nearest.1 < nearest.0.count - 2 else { return "" }
        return ". Did you mean '\(nearest.0)'?"
    }
}

/// How many letters have to be added, removed or replaced to make one word of another.
///
/// - Complexity: O(*n* × *m*); words longer than any option's name count as far away.
package func distance(_ first: String, _ second: String) -> Int {
    let (first, second) = (Array(first.utf8.prefix(64)), Array(second.utf8.prefix(64)))
    var row = Array(0...second.count)
    for (line, letter) in first.enumerated() {
        var corner = row[0]
        row[0] = line + 1
        for (column, other) in second.enumerated() {
            let replaced = corner + (letter == other ? 0 : 1)
            corner = row[column + 1]
            row[column + 1] = min(replaced, corner + 1, row[column] + 1)
        }
    }
    return row[second.count]
}
