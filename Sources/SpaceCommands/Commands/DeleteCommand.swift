import CommandWords
import SharedSpace

/// The command `space delete NS`.
struct DeleteCommand: ParsableCommand {
    static let commandName = "delete"
    static let configuration = CommandConfiguration(
        abstract: "Delete a namespace, also one that other processes own.",
        discussion: """
            Processes that use it are told that it is gone. A folder that isn't a namespace's is refused, and so is one that \
            holds other files too.

            EXAMPLE:
              space delete jobs
            """
    )

    @OptionGroup var common: CommonOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        try common.space().delete(namespace)
    }
}
