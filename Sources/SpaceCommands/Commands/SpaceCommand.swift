import ArgumentParser
import SharedSpace

/// `space`: the shell helper.
struct SpaceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "space",
        abstract: "Tuple spaces for the processes of one machine.",
        discussion: """
            Processes write, read and take tuples in namespaces; a namespace disappears when the last process that owns it has \
            exited. Data goes to standard output, one JSON value a line; everything else to standard error.

            A script begins with: export SHARED_SPACE_OWNER=$$

            More help: space help templates, space help durations, space help environment, space help status.

            EXIT STATUS:
            \(ExitStatus.help)
            """,
        version: Version.text("space"),
        subcommands: [HelpTopicCommand.self],
        groupedSubcommands: [
            CommandGroup(
                name: "Tuples",
                subcommands: [WriteCommand.self, ReadCommand.self, TakeCommand.self, CountCommand.self]
            ),
            CommandGroup(
                name: "Cells and ordered sets",
                subcommands: [
                    SetCommand.self, GetCommand.self, UnsetCommand.self, IncrCommand.self, ExpireCommand.self,
                    TTLCommand.self, ItemsCommand.self,
                ]
            ),
            CommandGroup(
                name: "Claims and transactions",
                subcommands: [
                    ClaimCommand.self, CompleteCommand.self, ReleaseCommand.self, ExtendCommand.self,
                    ClaimsCommand.self,
                    BuryCommand.self, KickCommand.self, MoveCommand.self, TxnCommand.self,
                ]
            ),
            CommandGroup(
                name: "Coordination",
                subcommands: [
                    LockCommand.self, SemaphoreCommand.self, ElectCommand.self, BarrierCommand.self, LatchCommand.self,
                    CounterCommand.self, RateCommand.self, QueueCommand.self, EvalCommand.self, RespondCommand.self,
                    RequestCommand.self,
                ]
            ),
            CommandGroup(
                name: "Changes",
                subcommands: [WatchCommand.self, UnsubscribeCommand.self, PostCommand.self, HistoryCommand.self]
            ),
            CommandGroup(
                name: "Namespaces",
                subcommands: [
                    ListCommand.self, ShowCommand.self, TopCommand.self, StatsCommand.self, MetricsCommand.self,
                    ServeCommand.self,
                    OwnCommand.self, DisownCommand.self, PersistCommand.self,
                    UnpersistCommand.self, DeleteCommand.self, WaitCommand.self, ReapCommand.self, LoadCommand.self,
                    BackupCommand.self, ReplayCommand.self,
                ]
            ),
            CommandGroup(
                name: "Several machines",
                subcommands: [JoinCommand.self, MachinesCommand.self, ReplicateCommand.self]
            ),
        ]
    )

    static var _errorPrefix: String { "space: " }

    /// Whether there is a command of that name.
    ///
    /// The commands that scripts call in loops are found without a look at the others.
    static func isCommand(_ name: String) -> Bool {
        if frequent(name) != nil { return true }
        return configuration.groupedSubcommands.contains { group in
            group.subcommands.contains { $0._commandName == name }
        }
    }

    /// The commands that scripts call in loops.
    static func frequent(_ name: String) -> (any ParsableCommand.Type)? {
        switch name {
        case "write": WriteCommand.self
        case "read": ReadCommand.self
        case "take": TakeCommand.self
        case "count": CountCommand.self
        case "set": SetCommand.self
        case "get": GetCommand.self
        case "unset": UnsetCommand.self
        case "incr": IncrCommand.self
        case "post": PostCommand.self
        case "claim": ClaimCommand.self
        case "complete": CompleteCommand.self
        case "release": ReleaseCommand.self
        case "move": MoveCommand.self
        case "request": RequestCommand.self
        case "txn": TxnCommand.self
        case "lock": LockCommand.self
        case "counter": CounterCommand.self
        default: nil
        }
    }

    /// Fails, because a command is missing.
    func run() throws {
        throw CommandFailure(.usage, "a command is missing\n\n\(Self.helpMessage())")
    }
}
