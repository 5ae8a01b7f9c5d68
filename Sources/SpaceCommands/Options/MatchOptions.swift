import CommandWords
import SharedSpace

/// The options that say how a template is read.
struct MatchOptions: ParsableArguments {
    @Flag(help: "Objects match records that have exactly their fields, at every depth.")
    var exact = false

    @Flag(help: "The template is a tuple: strings that begin with '?' stand for themselves.")
    var literal = false

    @OptionGroup var arguments: JSONArguments

    func template(_ text: String) throws -> Template {
        let values = try arguments.resolved()
        do {
            return try Template(json: text, exactly: exact, literal: literal, arguments: values)
        } catch {
            throw JSONText.failure("the template", error)
        }
    }

    /// What an argument names that is an id or a template.
    enum Subject {
        case id(UInt64)
        case template(Template)
    }

    /// What an argument names: a number is an id, anything else a template.
    func subject(_ text: String) throws -> Subject {
        if let id = UInt64(text) { return .id(id) }
        return .template(try template(text))
    }
}
