import CommandWords
import SharedSpace

/// The command `space post NS NAME [VALUE]`.
struct PostCommand: ParsableCommand {
    static let commandName = "post"
    static let configuration = CommandConfiguration(
        abstract: "Post a notification: it reaches the present watchers, and is not stored.",
        discussion: """
            The status is 0 also without a watcher, and 69 when there is no such namespace.

            EXAMPLES:
              space post jobs reload
              space post jobs progress '{"done": 7}'
              space post jobs greeting --arg name "$name" '["hello", $name]'
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var values: ValueOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The notification's name.")
    var name: String

    @Argument(help: "What it carries, in JSON form (default: null).")
    var value: String?

    func run() throws {
        let value = try values.value(value, what: "the value") ?? .null
        try NamespaceAccess(common, namespace).use { try $0.post(name, value) }
    }
}
