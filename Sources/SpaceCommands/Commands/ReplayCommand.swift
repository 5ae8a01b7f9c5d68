import ArgumentParser
import SharedSpace
import SpaceInspection

/// The command `space replay NS`.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Make a namespace of a backup, as it was at one of its moments.",
        discussion: """
            The namespace is a new one, under any name, often in another root (--root). It has the backup's mode and limit, and \
            goes on with its ids, change numbers and history. What was claimed is there unclaimed; what processes held, what \
            ended with a process, and who watched is not; subscriptions stay. Expiries come at their time. Prints the moment: \
            its last change (sequence), its time in milliseconds since 1970, and the bytes of its entry.

            --to CHANGE takes the last moment that has no change above that number; --list prints the backup's moments.

            EXAMPLES:
              space replay jobs --from jobs.backup --root /tmp/other
              space replay jobs-before --from jobs.backup --to 1200
              space replay --list --from jobs.backup
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions

    @Option(help: ArgumentHelp("The backup's file.", valueName: "file"), completion: .file())
    var from: String

    @Option(help: ArgumentHelp("The last change that the namespace may have.", valueName: "change"))
    var to: UInt64?

    @Flag(help: "Print the backup's moments, one JSON object a line.")
    var list = false

    @Flag(help: "Keep the namespace when its last owner has exited.")
    var persistent = false

    @Argument(help: "The new namespace; without, the name of the one in the backup.", completion: .namespaces)
    var namespace: String?

    mutating func validate() throws {
        if list, namespace != nil || to != nil || persistent {
            throw ValidationError("--list makes no namespace: it takes --from alone")
        }
    }

    func run() throws {
        let (name, moments) = list || namespace == nil ? try Space.moments(ofBackup: from) : ("", [])
        if list {
            return try Output.print(lines: moments.map { Self.line($0) })
        }
        let space = try common.space()
        let target = namespace ?? name
        let choice = try owner.choice()
        do {
            let (made, moment) = try space.replay(
                from,
                as: target,
                upTo: to,
                owner: try choice.request(),
                persistent: persistent
            )
            try NamespaceAccess.use(made) { _ in
                try Output.print(lines: [Self.line(moment)])
            }
        } catch let error as SpaceError where error.code == .noOwner {
            throw OwnerOptions.refusal(target, choice)
        }
    }

    private static func line(_ moment: BackupMoment) -> String {
        var object = JSONObject()
        object.add("sequence", moment.sequence)
        object.add("time", moment.time)
        object.add("bytes", moment.bytes)
        return object.line
    }
}
