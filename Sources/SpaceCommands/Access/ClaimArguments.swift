import CommandWords
import SharedSpace

/// The claim that a command ends or extends, by the id that `space claim --hold` printed.
struct ClaimArguments: ParsableArguments {
    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<id> The claim's id, as 'space claim --hold' printed it.", completion: .claims)
    var id: UInt64

    /// - Throws: `claimLost` if the claim no longer exists.
    func use(_ common: CommonOptions, _ operation: String, _ body: (Namespace, HeldClaim) throws -> Void) throws {
        try NamespaceAccess(common, namespace).use { namespace in
            try body(namespace, try namespace.claim(numbered: id, to: operation))
        }
    }
}
