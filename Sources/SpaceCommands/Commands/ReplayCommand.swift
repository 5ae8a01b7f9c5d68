import CommandWords
import SpaceInspection

/// The command `space replay NS`.
struct ReplayCommand: ParsableCommand {
    static let commandName = "replay"
    static let configuration = CommandConfiguration(
        abstract: "Make a namespace of a backup, as it was at one of its moments.",
        discussion: """
            The namespace is a new one, under any name, often in another root (--root). It has the backup's mode and limit, is \
            its maker's alone unless --group, and goes on with the backup's ids, change numbers and history. What was claimed is there unclaimed; what processes held, what \
            ended with a process, and who watched is not; subscriptions stay. Expiries come at their time. Prints the moment: \
            its last change (sequence), its time in milliseconds since 1970, and the bytes of its entry.

            --to CHANGE takes the last moment that has no change above that number; --list checks the file and prints its moments; \
            if one is damaged (74), those before it.

            --follow makes a standby of a log ('space backup --each-commit'), or goes on with one, and applies each entry as it \
            comes, until it is ended by a signal. Only the log writes in a standby; other processes read there, and wait for \
            what they read. It prints its last entry when it has caught up. --promote makes a standby a namespace of its own; \
            its claims return then.

            EXAMPLES:
              space replay jobs --from jobs.backup --root /tmp/other
              space replay jobs-before --from jobs.backup --to 1200
              space replay --list --from jobs.backup
              space replay jobs --from jobs.log --root /tmp/other --follow
              space replay jobs --root /tmp/other --promote
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions

    @Option(help: "<file> The backup's file.", completion: .file())
    var from: String?

    @Option(help: "<change> The last change that the namespace may have.")
    var to: UInt64?

    @Flag(help: "Print the backup's moments, one JSON object a line.")
    var list = false

    @Flag(help: "Make a standby of a log, and keep it up to date.")
    var follow = false

    @Flag(help: "Make a standby a namespace of its own.")
    var promote = false

    @Flag(help: "Keep the namespace when its last owner has exited.")
    var persistent = false

    @Option(help: "<group> Let this group, a name or a number, use the namespace too.")
    var group: GroupArgument?

    @Flag(help: "Make it without asking the root's daemon whether other machines share one of its name.")
    var local = false

    @Argument(help: "The new namespace; without, the name of the one in the backup.", completion: .namespaces)
    var namespace: String?

    mutating func validate() throws {
        let makes = persistent || local || group != nil
        if promote, from != nil || to != nil || list || follow || makes || namespace == nil {
            throw ValidationError("--promote takes the name of a standby, and no other option")
        }
        if !promote, from == nil { throw ValidationError("name the file: --from FILE") }
        if follow, to != nil || list {
            throw ValidationError("--follow goes on with every entry: it takes no --to and no --list")
        }
        if list, namespace != nil || to != nil || makes {
            throw ValidationError("--list makes no namespace: it takes --from alone")
        }
    }

    func run() throws {
        guard let from else {
            return try NamespaceAccess(common, namespace ?? "").use { try Standby.promote($0) }
        }
        if list { return try printMoments(of: from) }
        let space = try common.space()
        let target = try namespace ?? Space.name(ofBackup: from)
        if follow, try Existence(space: space, name: target).isThere() {
            return try keepUp(try NamespaceAccess(common, target).openExisting(for: owner), with: from)
        }
        let choice = try owner.choice()
        let made: Namespace
        let moment: BackupMoment
        do {
            (made, moment) = try space.replay(
                from,
                as: target,
                upTo: to,
                owner: try choice.request(),
                persistent: persistent || follow,
                group: group?.id,
                isLocal: local,
                asStandby: follow
            )
        } catch let error as SpaceError where error.code == .noOwner {
            throw OwnerOptions.refusal(target, choice)
        } catch let error as SpaceError where error.code == .incompatible && follow {
            // Another process may have made the standby meanwhile: then both follow the log.
            guard try Existence(space: space, name: target).isThere() else { throw error }
            return try keepUp(try NamespaceAccess(common, target).openExisting(for: owner), with: from)
        }
        if follow { return try keepUp(made, with: from) }
        if !persistent { choice.tell(creationOf: target) }
        try NamespaceAccess.use(made) { _ in
            try Output.print(Self.object(moment))
        }
    }

    /// Follows the log until a signal ends the command.
    private func keepUp(_ namespace: Namespace, with path: String) throws {
        try NamespaceAccess.use(namespace) { namespace in
            let standby = try Standby(namespace, log: path)
            try standby.follow(until: { Signals.pending != nil }) { entry in
                try Output.print(["entry": Int(clamping: entry)])
            }
            try Signals.check()
        }
    }

    /// Prints the complete moments of a file, and reports damage or an incomplete moment behind them.
    private func printMoments(of path: String) throws {
        let contents = try Space.contents(ofBackup: path)
        try Output.print(lines: contents.moments.map { Self.object($0).json })
        if let damage = contents.damage { throw damage }
        if contents.bytesBehind > 0 {
            Messages.print(
                "space: \(path.quotedForPeople) has \(contents.bytesBehind) bytes behind its last moment, which are no "
                    + "whole one: a backup was killed while it added it, or the file was cut"
            )
        }
    }

    private static func object(_ moment: BackupMoment) -> JSONObject {
        ["sequence": moment.sequence, "time": moment.time, "bytes": moment.bytes]
    }
}
