import CommandWords
import SharedSpace

/// The command `space barrier NS NAME --parties N [-- CMD…]`.
struct BarrierCommand: ParsableCommand {
    static let commandName = "barrier"
    static let configuration = CommandConfiguration(
        abstract: "Wait until a number of processes wait, and run a command.",
        usage: "space barrier [<options>] <ns> <name> --parties <n> [-- <cmd> ...]",
        discussion: """
            When as many as --parties says wait at the name, all go on. A process that dies or gives up is not counted. It waits \
            without limit, unless --wait; 1 when the time has passed. With CMD it then runs CMD, whose status it passes on.

            EXAMPLES:
              space barrier build ready --parties 3
              space barrier build ready --parties 3 -- ./measure
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(help: "How many wait for each other.")
    var parties: Int

    func run() throws {
        let isComplete = try holding.use(for: .barrier) {
            try $0.barrier(holding.name, parties: parties)
                .waitBlocking(timeout: holding.timeout, interruption: Signals.interruption)
        }
        if !isComplete { throw holding.status.nothingObtained }
        try holding.runCommand()
    }
}
