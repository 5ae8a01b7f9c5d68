import CommandWords
import SharedSpace

/// The command `space replicate NS`.
struct ReplicateCommand: ParsableCommand {
    static let commandName = "replicate"
    static let configuration = CommandConfiguration(
        abstract: "Make a namespace the same on all machines that have joined.",
        discussion: """
            From then on a write is one round trip to the cluster, and reads stay local. Nothing in it may be claimed, held or \
            watched at that moment. The daemon of this machine must run: space join. It is no error if the namespace is \
            replicated already. A new one is made so with: space write --replicated

            EXAMPLE:
              space replicate jobs
            """
    )

    @OptionGroup var common: CommonOptions

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        try NamespaceAccess(common, namespace).use { try $0.replicate() }
    }
}
