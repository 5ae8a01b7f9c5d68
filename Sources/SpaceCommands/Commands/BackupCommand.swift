import CommandWords
import SpaceInspection

/// The command `space backup NS`.
struct BackupCommand: ParsableCommand {
    static let commandName = "backup"
    static let configuration = CommandConfiguration(
        abstract: "Add what has changed in a namespace to a backup.",
        discussion: """
            The first time, the file gets everything; each later time, what has changed since: the file then has all these \
            moments, and 'space replay' makes a namespace of any of them. Processes go on writing meanwhile; each moment is \
            one state of the namespace. A backup that is killed, or for which the disk is too small, leaves the file with the \
            moments that it had. Prints how many moments the file has, how many rows were added (0: nothing has changed, and no \
            moment was added), and the number of the namespace's last change.

            With --each-commit, every commit from now on is a moment of the file, which is then the namespace's log: a change \
            counts once it is in the log, so a write fails if the log can't be written. 'space replay --follow' keeps a \
            standby with it. Prints the log's path and the number of its last entry. --no-log ends it.

            EXAMPLES:
              space backup jobs --to jobs.backup
              space backup jobs --to jobs.log --each-commit
              space backup jobs --to jobs.backup | jq .sequence
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(help: "<file> The backup's file; it is made if there is none.", completion: .file())
    var to: String?

    @Flag(help: "Log every commit in the file from now on.")
    var eachCommit = false

    @Flag(help: "End the log; the file stays.")
    var noLog = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    mutating func validate() throws {
        if noLog, to != nil || eachCommit { throw ValidationError("--no-log ends the log, and takes no other option") }
        if !noLog, to == nil { throw ValidationError("name the file: --to FILE") }
    }

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        guard let to else { return try access.use { try $0.endLog() } }
        if eachCommit {
            let log = try access.use { try $0.beginLog(to: to) }
            return try Output.print(["log": log.path, "entry": Int(clamping: log.entry), "sequence": log.sequence])
        }
        let result = try access.use { try $0.backUp(to: to) }
        try Output.print(["moments": result.entries, "rows": result.changes, "sequence": result.sequence])
    }
}
