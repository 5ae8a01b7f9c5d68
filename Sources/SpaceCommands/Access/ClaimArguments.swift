import ArgumentParser
import SharedSpace

/// How the commands that end or extend a claim come to it: by the id that `space claim --hold` printed.
struct ClaimArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The namespace.", valueName: "ns"), completion: .namespaces)
    var namespace: String

    @Argument(help: ArgumentHelp("The claim's id, as 'space claim --hold' printed it.", valueName: "id"))
    var id: UInt64

    /// - Throws: `claimLost` when there is no such claim any more.
    func use(_ common: CommonOptions, _ operation: String, _ body: (Namespace, HeldClaim) throws -> Void) throws {
        let access = try NamespaceAccess(common, namespace)
        try NamespaceAccess.use(try access.openExisting()) { namespace in
            guard let claim = try namespace.claim(numbered: id) else { throw Self.lost(id, operation, namespace) }
            try body(namespace, claim)
        }
    }

    static func lost(_ id: UInt64, _ operation: String, _ namespace: Namespace) -> SpaceError {
        let reason =
            namespace.isOfEarlierLife(claim: id)
            ? "this life of the namespace has had no claim \(id): there never was one, or it is of an earlier life of the namespace"
            : "there is no claim \(id): it was ended, or its tuple has returned to the space"
        return SpaceError(
            .claimLost,
            operation,
            namespace: namespace.name,
            reason: reason,
            advice: "claim it again"
        )
    }
}
