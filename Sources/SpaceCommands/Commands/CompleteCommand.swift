import ArgumentParser
import SharedSpace

/// The command `space complete NS ID`.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Remove a tuple that 'claim --hold' claimed.",
        discussion: """
            The status is 75 when the tuple has returned to the space: at the claim's deadline, because the owner has exited, or \
            with the namespace: ids of claims are never given out again, also not after the namespace was deleted and created anew.

            EXAMPLE:
              space complete jobs $id
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var claim: ClaimArguments

    func run() throws {
        try claim.use(common, "complete a claim") { try $0.complete($1) }
    }
}
