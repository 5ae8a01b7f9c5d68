import CommandWords

/// What the program is by each of its names: `space` has commands, `space-dump` is one of them.
extension ProgramName {
    /// The command of that name; `space-dump` has none.
    func command(named name: String) -> (any ParsableCommand.Type)? {
        self == .space ? SpaceCommand.command(named: name) : nil
    }

    /// What the program does without the name of a command.
    var root: any ParsableCommand.Type {
        switch self {
        case .space: SpaceCommand.self
        case .dump: DumpCommand.self
        }
    }

    /// The whole name of a command of this program: `space take`.
    func name(of command: any ParsableCommand.Type) -> String {
        command == root ? rawValue : "\(rawValue) \(command.commandName)"
    }
}
