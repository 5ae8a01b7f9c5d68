import CommandWords
import SharedSpace

/// The command `space unpersist NS`.
struct UnpersistCommand: ParsableCommand {
    static let commandName = "unpersist"
    static let configuration = CommandConfiguration(
        abstract: "Let a namespace go when its last owner has exited.",
        discussion: """
            If it has no owner, it is deleted at once.

            EXAMPLE:
              space unpersist jobs
            """
    )

    @OptionGroup var common: CommonOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        try NamespaceAccess(common, namespace).use { try $0.setPersistent(false) }
    }
}
