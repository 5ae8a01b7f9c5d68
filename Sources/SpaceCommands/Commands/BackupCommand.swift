import ArgumentParser
import SharedSpace
import SpaceInspection

/// The command `space backup NS`.
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Add what has changed in a namespace to a backup.",
        discussion: """
            The first time, the file gets everything; each later time, what has changed since: the file then has all these \
            moments, and 'space replay' makes a namespace of any of them. Processes go on writing meanwhile; each moment is \
            one state of the namespace. A backup that is killed, or for which the disk is too small, leaves the file with the \
            moments that it had. Prints how many moments the file has, how many rows were added (0: nothing has changed, and no \
            moment was added), and the number of the namespace's last change.

            EXAMPLES:
              space backup jobs --to jobs.backup
              space backup jobs --to jobs.backup | jq .sequence
            """
    )

    @OptionGroup var common: CommonOptions

    @Option(
        help: ArgumentHelp("The backup's file; it is made if there is none.", valueName: "file"),
        completion: .file()
    )
    var to: String

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    func run() throws {
        let result = try NamespaceAccess(common, namespace).use { try $0.backUp(to: to) }
        var object = JSONObject()
        object.add("moments", result.entries)
        object.add("rows", result.changes)
        object.add("sequence", result.sequence)
        try Output.print(lines: [object.line])
    }
}
