import CommandWords

/// `space`: the shell helper.
struct SpaceCommand: ParsableCommand {
    static let commandName = "space"
    static let configuration = CommandConfiguration(
        abstract: "Tuple spaces for the processes of one machine.",
        discussion: """
            Processes write, read and take tuples in namespaces; a namespace disappears when the last process that owns it has \
            exited. Data goes to standard output, one JSON value a line; everything else to standard error.

            The owner of what a command creates is the session leader (the terminal's shell, the cron job, the unit's main \
            process), unless it is named. A script whose namespaces end with it begins with: export SHARED_SPACE_OWNER=$$

            More help: space help COMMAND, space help templates, space help durations, space help environment, \
            space help status. 'space help' alone fits on one screen, 'space help all' is this list.

            EXIT STATUS:
            \(ExitStatus.help)
            """,
        groupedSubcommands: groups
    )

    private static let groups = [
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
                ClaimCommand.self, CompleteCommand.self, ReleaseCommand.self, ExtendCommand.self, ClaimsCommand.self,
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
                ServeCommand.self, OwnCommand.self, DisownCommand.self, PersistCommand.self, UnpersistCommand.self,
                DeleteCommand.self, WaitCommand.self, ReapCommand.self, DumpCommand.self, LoadCommand.self,
                BackupCommand.self, ReplayCommand.self,
            ]
        ),
        CommandGroup(name: "Coding agents", subcommands: [AgentsCommand.self, MCPCommand.self]),
        CommandGroup(
            name: "Several machines",
            subcommands: [JoinCommand.self, MachinesCommand.self, ReplicateCommand.self]
        ),
    ]

    /// The command of that name.
    static func command(named name: String) -> (any ParsableCommand.Type)? {
        groups.lazy.flatMap(\.subcommands).first { $0.commandName == name }
    }

    /// The help on one screen: `opening`, or what the program is, above the commands that a beginner needs.
    static func screen(opening: String? = nil) -> String {
        Help(Self.self, name: "space", width: Terminal.helpWidth).screen(
            opening: opening,
            closing: """
                'space help COMMAND' explains one of them, 'space help all' says what each does;
                'space help TOPIC' explains: templates, durations, environment, status.
                """
        )
    }

    /// Fails, because a command is missing.
    func run() throws { throw CommandFailure(.usage, Self.screen(opening: "a command is missing")) }
}
