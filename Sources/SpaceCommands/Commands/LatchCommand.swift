import CommandWords
import SharedSpace

/// The command `space latch NS NAME --count N [-- CMD…]`.
struct LatchCommand: ParsableCommand {
    static let commandName = "latch"
    static let configuration = CommandConfiguration(
        abstract: "Wait until a latch is open and run a command, or count it down.",
        usage: """
            space latch [<options>] <ns> <name> --count <n> [-- <cmd> ...]
            space latch [<options>] <ns> <name> --count <n> --down
            space latch [<options>] <ns> <name> --count <n> --remove
            """,
        discussion: """
            A latch opens for good once it was counted down as often as --count says. Without --down it waits until it is open, \
            without limit unless --wait; 1 when the time has passed. With CMD it then runs CMD, whose status it passes on. With --down it prints how many counts are left.

            EXAMPLES:
              space latch services ready --count 3 --down
              space latch services ready --count 3 --wait 1m -- ./start
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(help: "How often it is to be counted down.")
    var count: Int

    @Flag(help: "Count it down by one.")
    var down = false

    @Flag(help: "Remove it: the next count begins with the full number.")
    var remove = false

    func validate() throws {
        if down, remove { throw ValidationError("--down and --remove exclude each other") }
        if down || remove, !holding.tail.isMissing {
            throw ValidationError("\(down ? "--down" : "--remove") runs no command")
        }
    }

    func run() throws {
        // What isn't there is not created to be removed.
        if remove {
            return try holding.checkedAccess(for: .latch).use(for: holding.owner) {
                try $0.latch(holding.name, count: count).remove()
            }
        }
        if down { try Output().checkTaken() }
        let rest = try holding.use(for: .latch) { namespace -> Int? in
            let latch = namespace.latch(holding.name, count: count)
            if down { return try latch.countDown() }
            let isOpen = try latch.waitBlocking(timeout: holding.timeout, interruption: Signals.interruption)
            if !isOpen { throw holding.status.nothingObtained }
            return nil
        }
        guard let rest else { return try holding.runCommand() }
        try Output.print(line: "\(rest)")
    }
}
