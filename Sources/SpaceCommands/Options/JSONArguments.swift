import CommandWords
import TupleCoding

/// `--arg` and `--argjson`: values that JSON arguments refer to as `$NAME`.
struct JSONArguments: ParsableArguments {
    @Option(name: .customLong("arg"), help: "<name string> In JSON, $NAME is this string.")
    var strings: [NamedText] = []

    @Option(name: .customLong("argjson"), help: "<name json> In JSON, $NAME is this JSON value.")
    var values: [NamedText] = []

    /// A name, as it follows `$` in JSON, and a text.
    struct NamedText: ExpressibleByPair {
        let name: String
        let text: String

        init(name: String, value: String) throws(ValidationError) {
            guard Self.isName(name) else {
                throw ValidationError("'\(name)' can't be the name: use letters, digits and _, no digit first")
            }
            self.name = name
            text = value
        }

        private static func isName(_ word: String) -> Bool {
            guard let first = word.utf8.first, !first.isDigit else { return false }
            return word.utf8.allSatisfy(\.isOfWord)
        }
    }

    /// The values by name.
    ///
    /// - Throws: `CommandFailure`: usage for a name that is given twice, bad data for a value that is not JSON.
    func resolved() throws -> [String: Value] {
        if strings.isEmpty && values.isEmpty { return [:] }
        var result: [String: Value] = [:]
        for (named, isJSON) in strings.map({ ($0, false) }) + values.map({ ($0, true) }) {
            let name = named.name
            guard result[name] == nil else {
                throw CommandFailure.usage("the name \(name) is given twice with --arg or --argjson")
            }
            result[name] = isJSON ? try JSONText.value(named.text, what: "--argjson \(name)") : .string(named.text)
        }
        return result
    }
}
