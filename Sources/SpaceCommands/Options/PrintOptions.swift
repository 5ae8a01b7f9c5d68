import CommandWords
import SharedSpace

/// How tuples and values are printed.
struct PrintOptions: ParsableArguments {
    @Flag(name: .raw, help: "Print strings and bytes as they are, without quotes.")
    var raw = false

    @Option(help: "<number|name> Print one field: its number from 0, or a record's name.")
    var field: String?

    /// The line for a tuple.
    ///
    /// - Throws: `CommandFailure` (bad data) if the tuple lacks the field.
    func line(_ tuple: Tuple) throws -> PrintedLine {
        guard let field else { return .text(tuple.json) }
        if tuple.isRecord {
            guard let value = tuple[field] else {
                throw CommandFailure.badData("no field \(field.quotedForPeople) in the record \(Self.excerpt(tuple))")
            }
            return Self.line(value, raw: raw)
        }
        guard let position = Int(field), position >= 0, position < tuple.count else {
            throw CommandFailure.badData("no field \(field.quotedForPeople) in the tuple \(Self.excerpt(tuple))")
        }
        return Self.line(tuple[position], raw: raw)
    }

    static func line(_ value: Value, raw: Bool) -> PrintedLine {
        switch value {
        case .string(let text) where raw: .text(text)
        case .bytes(let bytes) where raw: .bytes(bytes)
        default: .text(value.json)
        }
    }

    /// Enough of a tuple to recognise it in a message.
    private static func excerpt(_ tuple: Tuple) -> String {
        let text = PeopleText.escaped(tuple.json)
        return text.count > 120 ? text.prefix(120) + "…" : text
    }
}

extension NameSpecification {
    static let raw: NameSpecification = [.customShort("r"), .customLong("raw")]
}

extension ArgumentHelp {
    /// The help of `-r` where one value is printed.
    static let raw: ArgumentHelp = "Print a string, or bytes, as they are, without quotes."
}
