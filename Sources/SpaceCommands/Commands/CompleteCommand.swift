import CommandWords
import SharedSpace

/// The command `space complete NS ID`.
struct CompleteCommand: ParsableCommand {
    static let commandName = "complete"
    static let configuration = CommandConfiguration(
        abstract: "Remove a tuple that 'claim --hold' claimed.",
        discussion: """
            The status is 75 when the tuple has returned to the space: at the claim's deadline, because the owner has exited, or \
            with the namespace: ids of claims are never given out again, also not after the namespace was deleted and made again.

            With --keep the tuple is back in its place instead, as if it had never been claimed.

            EXAMPLES:
              space complete jobs $id
              space complete lab $id --keep
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var claim: ClaimArguments

    @Flag(help: "Put the tuple back, as 'claim --keep' does after success.")
    var keep = false

    func run() throws {
        try claim.use(common, "complete a claim") { if keep { try $0.keep($1) } else { try $0.complete($1) } }
    }
}
