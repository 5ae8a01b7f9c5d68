import ArgumentParser
import SharedSpace

/// The command `space complete NS ID`.
struct CompleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "complete",
        abstract: "Remove a tuple that 'claim --hold' claimed.",
        discussion: """
            The status is 75 when the tuple has returned to the space: at the claim's deadline, or because the owner has exited.

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
