import CommandWords
import SharedSpace

/// The command `space release NS ID`.
struct ReleaseCommand: ParsableCommand {
    static let commandName = "release"
    static let configuration = CommandConfiguration(
        abstract: "Put a tuple that 'claim --hold' claimed back in its place.",
        discussion: """
            The status is 75 when it has returned already.

            EXAMPLE:
              space release jobs $id
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var claim: ClaimArguments

    func run() throws {
        try claim.use(common, "release a claim") { namespace, held in
            guard try namespace.release(held) else {
                throw namespace.lostClaim(held.number, "release a claim")
            }
        }
    }
}
