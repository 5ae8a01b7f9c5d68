/// Declarations that belong together: a command's, or those that several commands share.
package protocol ParsableArguments {
    init()

    /// Checks what the parser can't.
    ///
    /// - Throws: `ValidationError`.
    mutating func validate() throws
}

extension ParsableArguments {
    package mutating func validate() throws {}
}

/// A command: its declarations, and what it does.
package protocol ParsableCommand: ParsableArguments, SendableMetatype {
    static var commandName: String { get }

    /// What is said of it; the name is apart because a command is looked for by its name, and the texts of all are long.
    static var configuration: CommandConfiguration { get }
    mutating func run() throws
}

/// What is said of a command.
package struct CommandConfiguration: Sendable {
    package let abstract: String
    /// Whether the program's short help has a line for it, and not its name alone: a beginner needs it.
    package let isEssential: Bool
    package let usage: String?
    package let discussion: String
    package let groupedSubcommands: [CommandGroup]

    package init(
        abstract: String,
        isEssential: Bool = false,
        usage: String? = nil,
        discussion: String = "",
        groupedSubcommands: [CommandGroup] = []
    ) {
        self.abstract = abstract
        self.isEssential = isEssential
        self.usage = usage
        self.discussion = discussion
        self.groupedSubcommands = groupedSubcommands
    }

    /// The subcommands of all groups.
    package var subcommands: [any ParsableCommand.Type] { groupedSubcommands.flatMap(\.subcommands) }
}

/// Subcommands under one title of the help.
package struct CommandGroup: Sendable {
    package let name: String
    package let subcommands: [any ParsableCommand.Type]

    package init(name: String, subcommands: [any ParsableCommand.Type]) {
        self.name = name
        self.subcommands = subcommands
    }
}

/// Words that a command can't do anything with.
package struct ValidationError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
