import CommandWords
import TupleCoding

/// The help of the program by one of its names as one JSON object, for the manual pages: `--help-json`.
struct HelpObject {
    let line: String

    init(_ program: ProgramName) {
        var object = Self.command(program.root, of: program)
        object.add("topics", program == .space ? HelpTopic.allCases.map(\.rawValue) : [])
        line = object.line
    }

    private static func command(_ type: any ParsableCommand.Type, of program: ProgramName) -> JSONObject {
        let configuration = type.configuration
        var object = JSONObject()
        object.add("commandName", configuration.commandName)
        object.add("abstract", configuration.abstract)
        object.add("discussion", configuration.discussion)
        let help = Help(type, name: program.name(of: type), width: 80)
        object.add("usage", help.usage)
        object.add("arguments", help.declarations.displayed.map(argument) + help.common.map(common))
        object.add("subcommands", configuration.subcommands.map { command($0, of: program) })
        return object
    }

    /// `--`, `--version` and `--help`.
    private static func common(_ names: String, _ meaning: String) -> JSONObject {
        var object = JSONObject()
        object.add("kind", "flag")
        object.add("names", names.split(separator: ", ").map(String.init))
        object.add("values", "")
        object.add("abstract", meaning)
        return object
    }

    private static func argument(_ declaration: Declaration) -> JSONObject {
        let isWord = declaration.isPositional || declaration.form == .tail
        var object = JSONObject()
        object.add("kind", isWord ? "positional" : declaration.form == .flag ? "flag" : "option")
        object.add("names", declaration.allNames)
        object.add("values", declaration.valueLabel)
        object.add("valueName", declaration.valueName)
        object.add("isRepeating", declaration.isRepeating || declaration.form == .tail)
        object.add("abstract", declaration.help.abstract)
        if let value = declaration.defaultDescription { object.add("defaultValue", value) }
        if !declaration.allValueStrings.isEmpty { object.add("allValues", declaration.allValueStrings) }
        return object
    }
}
