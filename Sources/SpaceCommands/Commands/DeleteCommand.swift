import ArgumentParser
import SharedSpace

/// The command `space delete NS`.
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a namespace, whoever owns it.",
        discussion: """
            Processes that use it are told that it is gone.

            EXAMPLE:
              space delete jobs
            """
    )

    @OptionGroup var common: CommonOptions

    @Argument(help: ArgumentHelp("The namespace.", valueName: "ns"), completion: .namespaces)
    var namespace: String

    func run() throws {
        try common.space().delete(namespace)
    }
}
