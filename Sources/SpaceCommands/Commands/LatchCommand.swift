import ArgumentParser
import SharedSpace

/// The command `space latch NS NAME --count N`.
struct LatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "latch",
        abstract: "Wait until a latch is open, or count it down.",
        discussion: """
            A latch opens for good once it was counted down as often as --count says. Without --down it waits until it is open, \
            without limit unless --wait; 1 when the time has passed. With --down it prints how many counts are left.

            EXAMPLES:
              space latch services ready --count 3 --down
              space latch services ready --count 3 --wait 1m && start
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(help: "How often it is to be counted down.")
    var count: Int

    @Flag(help: "Count it down by one.")
    var down = false

    @Flag(help: "Remove it: the next count begins anew.")
    var remove = false

    func run() throws {
        let rest = try holding.use(for: .latch) { namespace -> Int? in
            let latch = namespace.latch(holding.name, count: count)
            if remove {
                try latch.remove()
                return nil
            }
            if down { return try latch.countDown() }
            let isOpen = try latch.waitBlocking(timeout: holding.timeout, interruption: Signals.interruption)
            if !isOpen { throw holding.status.nothingObtained }
            return nil
        }
        guard let rest else { return }
        try Output.print(line: "\(rest)")
    }
}
