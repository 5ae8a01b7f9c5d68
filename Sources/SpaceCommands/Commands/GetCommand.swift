import ArgumentParser
import SharedSpace

/// The command `space get NS KEY`.
struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Print a cell's value.",
        discussion: """
            The status is 1 when the cell holds none, and 69 when there is no such namespace; with --wait a missing namespace \
            counts as nothing yet.

            EXAMPLES:
              space get jobs progress
              port=$(space get server port --wait 10s) || exit
              space get jobs title -r
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var waiting: WaitOptions
    @OptionGroup var status: StatusOptions
    @OptionGroup var printing: RawOptions

    @Argument(help: .namespace, completion: .namespaces)
    var namespace: String

    @Argument(help: "The cell's name.", completion: .keys)
    var key: String

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        let value = try access.obtain(waiting.wait, for: owner) { (namespace, remaining) -> Value? in
            guard let remaining else { return try namespace.get(key) }
            return try namespace.getBlocking(key, timeout: remaining, interruption: Signals.interruption)
        }
        guard let value else { throw status.nothingObtained }
        try Signals.check()
        try Output.print(line: printing.line(value))
    }
}
