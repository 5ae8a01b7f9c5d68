import CommandWords
import SharedSpace

/// The command `space counter NS NAME [N]`.
struct CounterCommand: ParsableCommand {
    static let commandName = "counter"
    static let configuration = CommandConfiguration(
        abstract: "Add to a shared counter, and print it.",
        discussion: """
            Begins with 0. With 0 it prints the number as it is. --remove removes it.

            EXAMPLES:
              n=$(space counter builds number)
              space counter builds number 0
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @OptionGroup var creation: CreationOptions

    @Flag(help: "Remove it: the next count begins with 0.")
    var remove = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The name.", completion: .objects(.counter))
    var name: String

    @Argument(help: "What to add.")
    var number = 1

    func run() throws {
        let access = try NamespaceAccess(common, namespace)
        try access.check(name, of: .counter)
        // What isn't there is not created to be removed.
        if remove { return try access.use(for: owner) { try $0.counter(name).remove() } }
        try Output().checkTaken()
        let sum = try access.use(for: owner, creating: creation) { namespace in
            let counter = namespace.counter(name)
            return try number == 0 ? counter.value() : counter.add(number)
        }
        try Output.print(line: "\(sum)")
    }
}
