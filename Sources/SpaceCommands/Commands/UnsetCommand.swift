import CommandWords
import SharedSpace

/// The command `space unset NS KEY`.
struct UnsetCommand: ParsableCommand {
    static let commandName = "unset"
    static let configuration = CommandConfiguration(
        abstract: "Remove a cell, and print the value that it held.",
        discussion: """
            The status is 1 when it held none. A value that could not be printed is set again, to \
            end when it would have ended, unless there is another by then.

            EXAMPLE:
              space unset jobs progress
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @Flag(name: .raw, help: .raw) var raw = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The cell's name.", completion: .keys)
    var key: String

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        let output = Output()
        try output.checkTaken()
        let hasFound = try access.use(for: owner) { namespace in
            guard let former = try namespace.unsetKeeping(key) else { return false }
            output.append(line: PrintOptions.line(former.value, raw: raw))
            do {
                try output.flush()
            } catch {
                try? namespace.putBack(key, former)
                throw error
            }
            return true
        }
        if !hasFound { throw status.nothingObtained }
    }
}
