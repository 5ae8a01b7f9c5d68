import CommandWords
import SharedSpace

/// The command `space persist NS`.
struct PersistCommand: ParsableCommand {
    static let commandName = "persist"
    static let configuration = CommandConfiguration(
        abstract: "Keep a namespace when its last owner has exited.",
        discussion: """
            A namespace on a memory file system doesn't survive a reboot all the same.

            EXAMPLE:
              space persist jobs
            """
    )

    @OptionGroup var common: CommonOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        try NamespaceAccess(common, namespace).use { try $0.setPersistent(true) }
    }
}
