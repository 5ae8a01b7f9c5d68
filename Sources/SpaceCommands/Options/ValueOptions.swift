import CommandWords
import TupleCoding

/// `--string`, for commands whose words are JSON values.
struct ValueOptions: ParsableArguments {
    @Flag(name: [.customShort("s"), .customLong("string")], help: "Values are strings, the words as they stand.")
    var string = false

    /// The value of a word.
    ///
    /// - Throws: `CommandFailure` (bad data) for a word that is not JSON; it says how to write a string.
    func value(_ word: String, what: String, arguments: [String: Value] = [:]) throws -> Value {
        if string { return .string(word) }
        return try JSONText.value(word, what: what, arguments: arguments, advice: Self.advice(for: word))
    }

    /// How to write a word that is not JSON as a string, as the shell wants it.
    private static func advice(for word: String) -> String {
        let quoted = JSONText.quotedForShell(Value.string(word).json)
        return "for a string write \(quoted.utf8.count > 60 ? "it in double quotes" : quoted), or give --string"
    }
}
