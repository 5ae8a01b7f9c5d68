/// The help of a command, for a screen.
package struct Help {
    let name: String
    let configuration: CommandConfiguration
    package let declarations: Declarations
    let width: Int

    /// The column in which descriptions begin.
    static let column = 26
    /// More options than this are `[<options>]` in the usage.
    private static let most = 12

    /// Makes the help of a command with a whole name, such as `space take`, for lines of `width` columns.
    package init(_ command: any ParsableCommand.Type, name: String, width: Int) {
        self.name = name
        self.width = width
        configuration = command.configuration
        declarations = Self.declarations(of: command)
    }

    private static func declarations(of command: (some ParsableCommand).Type) -> Declarations {
        Declarations(command.init())
    }

    /// The whole text, without a line break at its end.
    package var text: String {
        var overview = configuration.abstract
        if !configuration.discussion.isEmpty { overview += "\n\n\(configuration.discussion)" }
        let displayed = declarations.displayed
        let sections =
            [section("ARGUMENTS", displayed.filter { $0.isPositional || $0.form == .tail }.map(row))]
            + [
                section(
                    "OPTIONS",
                    displayed.filter { !$0.isPositional && $0.form != .tail }.map(row) + common.map { $0 }
                )
            ]
            + configuration.groupedSubcommands.map { group in
                let rows = group.subcommands.map { ($0.commandName, $0.configuration.abstract) }
                return section("\(group.name.uppercased()) SUBCOMMANDS", rows)
            }
        let parts = ["OVERVIEW: \(overview)".wrapped(to: width), "USAGE: \(indented(usage, by: 7))"]
        return (parts + sections.filter { !$0.isEmpty }).joined(separator: "\n\n")
    }

    /// The forms of the command line, each on its own line.
    package var usage: String {
        if let usage = configuration.usage { return usage }
        if !configuration.groupedSubcommands.isEmpty { return "\(name) <subcommand>" }
        let displayed = declarations.displayed
        let count = displayed.reduce(0) { $0 + 1 + $1.inverseNames.count }
        guard count > Self.most else { return ([name] + displayed.map(\.usage)).joined(separator: " ") }
        let needed = displayed.filter { $0.isPositional || $0.form == .tail || $0.isRequired }
        return (["\(name) \(needed.isEmpty ? "<options>" : "[<options>]")"] + needed.map(\.usage)).joined(
            separator: " "
        )
    }

    /// The message of an error, with the usage.
    package static func message(_ error: ParseError, _ command: any ParsableCommand.Type, name: String) -> String {
        let help = Help(command, name: name, width: 80)
        var lines = [error.message]
        if let help = error.help { lines.append("Help:  \(help)") }
        lines.append("Usage: \(help.indented(help.usage, by: 7))")
        lines.append("  See '\(name) --help' for more information.")
        return lines.joined(separator: "\n")
    }

    /// What every command has: names with commas, and what they mean.
    package var common: [(names: String, meaning: String)] {
        var rows: [(names: String, meaning: String)] = []
        if configuration.groupedSubcommands.isEmpty {
            let words = declarations.tail == nil ? "data, also when it begins with a dash" : "the command to run"
            rows.append(("--", "Ends the options: what follows is \(words)."))
        }
        return rows + [("--version", "Show the version."), ("-h, --help", "Show help information.")]
    }

    private func row(_ declaration: Declaration) -> (String, String) {
        var notes: [String] = []
        let values = declaration.allValueStrings
        if !values.isEmpty { notes.append("values: \(values.joined(separator: ", "))") }
        if let value = declaration.defaultDescription, !value.isEmpty {
            notes.append("default\(declaration.form == .optionalValue ? " as flag" : ""): \(value)")
        }
        let abstract = declaration.help.abstract
        let note = notes.isEmpty ? [] : ["(\(notes.joined(separator: "; ")))"]
        let texts = (abstract.isEmpty ? [] : [abstract]) + note
        return (declaration.label, texts.joined(separator: " "))
    }

    func section(_ title: String, _ rows: [(String, String)], column: Int = Help.column) -> String {
        if rows.isEmpty { return "" }
        let lines = rows.map { (label, text) in
            let label = "  \(label)"
            let wrapped = text.wrapped(to: width, indent: column)
            if label.count < column { return label + wrapped.dropFirst(label.count) }
            return wrapped.isEmpty ? label : "\(label)\n\(wrapped)"
        }
        return "\(title):\n" + lines.joined(separator: "\n")
    }

    private func indented(_ text: String, by count: Int) -> String {
        text.split(separator: "\n").joined(separator: "\n" + String(repeating: " ", count: count))
    }
}

extension String {
    /// The text on lines of at most `width` columns, broken at spaces if there are any, each line behind an indent.
    func wrapped(to width: Int, indent: Int = 0) -> String {
        let most = max(1, width - indent)
        let margin = String(repeating: " ", count: indent)
        var lines: [Substring] = []
        for paragraph in split(separator: "\n", omittingEmptySubsequences: false) {
            var rest = paragraph
            while rest.count > most {
                let end =
                    rest.prefix(most).lastIndex(of: " ") ?? rest.dropFirst(most).firstIndex(of: " ")
                guard let end, end > rest.startIndex else { break }
                lines.append(rest[..<end])
                rest = rest[rest.index(after: end)...]
            }
            lines.append(rest)
        }
        return lines.map { $0.isEmpty ? "" : margin + $0 }.joined(separator: "\n")
    }
}
