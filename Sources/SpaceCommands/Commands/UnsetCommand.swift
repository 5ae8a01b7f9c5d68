import ArgumentParser
import SharedSpace

/// The command `space unset NS KEY`.
struct UnsetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unset",
        abstract: "Remove a cell, and print the value that it held.",
        discussion: """
            The status is 1 when it held none.

            EXAMPLE:
              space unset jobs progress
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var status: StatusOptions

    @Flag(name: [.customShort("r"), .customLong("raw")], help: "Print a string as it is, without quotes.")
    var raw = false

    @Argument(help: ArgumentHelp("The namespace.", valueName: "ns"), completion: .namespaces)
    var namespace: String

    @Argument(help: "The cell's name.")
    var key: String

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        let old = try NamespaceAccess.use(try access.openExisting(owner: owner)) { try $0.unset(key) }
        guard let old else { throw status.nothingObtained }
        let output = Output()
        output.append(line: PrintOptions.line(old, raw: raw))
        try output.flush()
    }
}
