import ArgumentParser
import SharedSpace

/// The command `space semaphore NS NAME --permits N -- CMD…`.
struct SemaphoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "semaphore",
        abstract: "Hold permits of a named semaphore while a command runs.",
        usage: "space semaphore [<options>] <ns> <name> --permits <n> -- <cmd> ...",
        discussion: """
            At most --permits permits are held at a time; all that use the name must say the same number. Otherwise like 'space lock'.

            EXAMPLES:
              space semaphore jobs downloads --permits 4 -- curl -O "$url"
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(help: "How many permits there are.")
    var permits: Int

    @Option(help: "How many are held.")
    var count = 1

    func validate() throws { try holding.tail.require() }

    func run() throws {
        try holding.hold(.semaphore) { namespace throws(SpaceError) in
            try namespace.semaphore(holding.name, permits: permits).acquireBlocking(
                count,
                timeout: holding.timeout,
                interruption: Signals.interruption
            )
        }
    }
}
