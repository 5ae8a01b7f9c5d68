import ArgumentParser
import TupleCoding

/// `--arg` and `--argjson`: values that JSON arguments refer to as `$NAME`.
struct JSONArguments: ParsableArguments {
    @Option(
        name: .customLong("arg"),
        parsing: .singleValue,
        help: ArgumentHelp("In JSON, $NAME is this string.", valueName: "name> <string")
    )
    var strings: [String] = []

    @Option(
        name: .customLong("argjson"),
        parsing: .singleValue,
        help: ArgumentHelp("In JSON, $NAME is this JSON value.", valueName: "name> <json")
    )
    var values: [String] = []

    /// The values by name.
    ///
    /// - Throws: `CommandFailure`: usage for a name that is given twice, bad data for a value that is not JSON.
    func resolved() throws -> [String: Value] {
        if strings.isEmpty && values.isEmpty { return [:] }
        var result: [String: Value] = [:]
        for (word, isJSON) in strings.map({ ($0, false) }) + values.map({ ($0, true) }) {
            // `Words` has joined name and value, and a name has no `=`. The search is by bytes, because a value may
            // begin with a combining mark, which makes one character with the sign.
            guard let sign = word.utf8.firstIndex(of: UInt8(ascii: "=")) else {
                throw CommandFailure.usage("--arg and --argjson need two words: a name and a value")
            }
            let name = String(word[..<sign])
            let text = String(decoding: word.utf8[sign...].dropFirst(), as: UTF8.self)
            guard result[name] == nil else {
                throw CommandFailure.usage("the name \(name) is given twice with --arg or --argjson")
            }
            result[name] = isJSON ? try JSONText.value(text, what: "--argjson \(name)") : .string(text)
        }
        return result
    }
}
