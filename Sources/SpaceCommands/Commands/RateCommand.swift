import CommandWords
import SharedSpace

/// The command `space rate NS NAME --limit N --per D [-- CMD…]`.
struct RateCommand: ParsableCommand {
    static let commandName = "rate"
    static let configuration = CommandConfiguration(
        abstract: "Wait until a rate limit allows it, and run a command.",
        usage: "space rate [<options>] <ns> <name> --limit <n> --per <duration> [-- <cmd> ...]",
        discussion: """
            At most --limit pass in any time as long as --per, over all processes: that many at once, and the next when \
            --per has passed since the first of them. Waits without limit, unless --wait: then the status is 1, at once, \
            when the wait would take longer. The status is CMD's.

            EXAMPLES:
              space rate api requests --limit 100 --per 1m -- curl "$url"
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(help: "How many in the time, and at once.")
    var limit: Int

    @Option(help: "<duration> The time.")
    var per: Duration

    func run() throws {
        let isFree = try holding.use(for: .rateLimit) {
            try $0.rateLimit(holding.name, limit: limit, per: per)
                .acquireBlocking(1, timeout: holding.timeout, interruption: Signals.interruption)
        }
        if !isFree { throw holding.status.nothingObtained }
        try holding.runCommand()
    }
}
