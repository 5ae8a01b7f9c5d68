import CommandWords
import SharedSpace

/// The command `space extend NS ID D`.
struct ExtendCommand: ParsableCommand {
    static let commandName = "extend"
    static let configuration = CommandConfiguration(
        abstract: "Give a claim more time.",
        discussion: """
            Moves the deadline of a claim to D from now, if that is later; a claim without a deadline stays without. The command \
            that 'claim --deadline' runs finds its claim's id in $SHARED_SPACE_FENCING. The status is 75 when the tuple has \
            returned to the space.

            EXAMPLE:
              space extend jobs $id 5m
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var claim: ClaimArguments

    @Argument(help: "<duration> How long the claim lasts from now on.")
    var duration: Duration?

    @Option(help: "<duration> The same, as an option.")
    var deadline: Duration?

    func validate() throws {
        if (duration == nil) == (deadline == nil) {
            throw ValidationError("say once how long the claim is to last from now on: space extend NS ID 5m")
        }
    }

    func run() throws {
        guard let longer = duration ?? deadline else { return }
        try NamespaceAccess(common, claim.namespace).use { namespace in
            guard try namespace.extend(claimNumbered: claim.id, by: longer) else {
                throw namespace.lostClaim(claim.id, "extend a claim")
            }
        }
    }
}
