import CommandWords
import TupleCoding

/// `--arg` and `--argjson`: values that JSON arguments refer to as `$NAME`.
struct JSONArguments: ParsableArguments {
    @Option(
        name: .customLong("arg"),
        help: ArgumentHelp("In JSON, $NAME is this string.", valueName: "name string")
    )
    var strings: [NamedText] = []

    @Option(
        name: .customLong("argjson"),
        help: ArgumentHelp("In JSON, $NAME is this JSON value.", valueName: "name json")
    )
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
