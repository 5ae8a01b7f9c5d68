import CommandWords
import SharedSpace

/// The command `space incr NS KEY [N]`.
struct IncrCommand: ParsableCommand {
    static let commandName = "incr"
    static let configuration = CommandConfiguration(
        abstract: "Add to the integer in a cell, and print the sum.",
        discussion: """
            Creates the namespace if need be; a cell that holds no value counts from 0. The status is 65 when the cell holds \
            something else than an integer, or the sum doesn't fit 64 bits.

            EXAMPLES:
              space incr jobs done
              space incr jobs credit -5
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The cell's name.", completion: .keys)
    var key: String

    @Argument(help: "What to add.")
    var number = 1

    func run() throws {
        try Output().checkTaken()
        let sum = try NamespaceAccess(common, namespace).use(for: owner, creating: creation) { namespace in
            try namespace.increment(key, by: number)
        }
        try Output.print(line: "\(sum)")
    }
}
