import CommandWords
import TupleCoding

/// The help of the program by one of its names as one JSON object, for the manual pages: `--help-json`.
struct HelpObject {
    let line: String

    init(_ program: ProgramName) {
        var object = Self.command(program.root, of: program)
        object.add("topics", program == .space ? HelpTopic.allCases.map(\.rawValue) : [])
        line = object.json
    }

    private static func command(_ type: any ParsableCommand.Type, of program: ProgramName) -> JSONObject {
        let configuration = type.configuration
        let help = Help(type, name: program.name(of: type), width: 80)
        return [
            "commandName": type.commandName, "abstract": configuration.abstract,
            "discussion": configuration.discussion, "usage": help.usage,
            "arguments": help.declarations.displayed.map(argument) + help.common.map(common),
            "subcommands": configuration.subcommands.map { command($0, of: program) },
        ]
    }

    /// `--`, `--version` and `--help`.
    private static func common(_ names: String, _ meaning: String) -> JSONObject {
        ["kind": "flag", "names": names.split(separator: ", ").map(String.init), "values": "", "abstract": meaning]
    }

    private static func argument(_ declaration: Declaration) -> JSONObject {
        let isWord = declaration.isPositional || declaration.form == .tail
        return [
            "kind": isWord ? "positional" : declaration.form == .flag ? "flag" : "option",
            "names": declaration.allNames, "values": declaration.valueLabel, "valueName": declaration.valueName,
            "isRepeating": declaration.isRepeating || declaration.form == .tail,
            "abstract": declaration.help.abstract, "defaultValue": declaration.defaultDescription.orLeftOut,
            "allValues": declaration.allValueStrings.orLeftOut,
        ]
    }
}
