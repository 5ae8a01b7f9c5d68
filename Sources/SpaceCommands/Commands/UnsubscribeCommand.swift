import CommandWords
import SharedSpace

/// The command `space unsubscribe NS NAME`.
struct UnsubscribeCommand: ParsableCommand {
    static let commandName = "unsubscribe"
    static let configuration = CommandConfiguration(
        abstract: "End a subscription, which no longer holds the journal.",
        discussion: """
            A subscription of 'space watch --subscription' stays while nobody watches, and the journal keeps what it has not been \
            told, up to its bound. 'space show' lists subscriptions with their positions. The status is 1 when there is none of \
            that name. A watch that goes on under that name ends with status 69.

            EXAMPLE:
              space unsubscribe jobs audit
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "The subscription's name.", completion: .subscriptions)
    var name: String

    func run() throws {
        let wasThere = try NamespaceAccess(common, namespace).use { try $0.endSubscription(name) }
        if !wasThere { throw status.nothingObtained }
    }
}
