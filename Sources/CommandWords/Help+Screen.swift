extension Help {
    /// What fits on one screen: a line for each command that a beginner needs, then the names of all others by their
    /// groups.
    ///
    /// `opening` stands above it, or the program's abstract if that is `nil`; `closing` stands below, and says where more
    /// is.
    package func screen(opening: String? = nil, closing: String) -> String {
        let first = configuration.subcommands.filter { $0.configuration.isEssential }
            .map { ($0.commandName, $0.configuration.abstract) }
        let others = configuration.groupedSubcommands.map { group in
            let names = group.subcommands.filter { !$0.configuration.isEssential }.map { $0.commandName }
            return (group.name, names.joined(separator: " "))
        }
        let parts = [
            "\((opening ?? configuration.abstract).wrapped(to: width))\nUSAGE: \(name) COMMAND ...",
            section("FIRST COMMANDS", first, column: Self.narrowColumn),
            section("MORE COMMANDS", others.filter { !$0.1.isEmpty }), closing.wrapped(to: width),
        ]
        return parts.filter { !$0.isEmpty }.joined(separator: "\n\n")
    }

    /// The column in which descriptions begin if nothing stands before them but commands' names.
    private static var narrowColumn: Int { 12 }
}
