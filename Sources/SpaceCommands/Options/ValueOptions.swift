import CommandWords
import TupleCoding

/// How the words are read of commands whose words are JSON values: `--string`, and what `$NAME` is in them.
struct ValueOptions: ParsableArguments {
    @Flag(name: [.customShort("s"), .customLong("string")], help: "Values are strings, the words as they stand.")
    var string = false

    @OptionGroup var arguments: JSONArguments

    /// The value of a word, if there is one.
    func value(_ word: String?, what: String) throws -> Value? {
        try values([word].compactMap(\.self), what: what).first
    }

    /// The values of words.
    ///
    /// - Throws: `CommandFailure` (bad data) for a word that is not JSON; it says how to write a string.
    func values(_ words: [String], what: String) throws -> [Value] {
        let named = try arguments.resolved()
        return try words.map { word in
            if string { return .string(word) }
            return try JSONText.value(word, what: what, arguments: named, advice: Self.advice(for: word))
        }
    }

    /// How to write a word that is not JSON as a string, as the shell wants it.
    private static func advice(for word: String) -> String {
        let quoted = JSONText.quotedForShell(Value.string(word).json)
        return "for a string write \(quoted.utf8.count > 60 ? "it in double quotes" : quoted), or give --string"
    }
}
