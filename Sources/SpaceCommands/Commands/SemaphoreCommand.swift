import CommandWords
import SharedSpace

/// The command `space semaphore NS NAME --permits N -- CMD…`.
struct SemaphoreCommand: ParsableCommand {
    static let commandName = "semaphore"
    static let configuration = CommandConfiguration(
        abstract: "Hold permits of a named semaphore while a command runs, or set how many there are.",
        usage: """
            space semaphore [<options>] <ns> <name> --permits <n> -- <cmd> ...
            space semaphore [<options>] <ns> <name> --set <n>
            space semaphore [<options>] <ns> <name> --unset
            """,
        discussion: """
            At most --permits permits are held at a time; all that use the name must say the same number. Otherwise like 'space lock'.

            --set changes the number while the semaphore is in use: from now on it counts for all, whatever --permits says. If it is \
            smaller, holders keep what they have, the next wait until few enough are held, and whoever waits for more is refused. --unset takes it back; the status \
            is 1 when there was none.

            EXAMPLES:
              space semaphore jobs downloads --permits 4 -- curl -O "$url"
              space semaphore jobs downloads --set 8
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(help: "How many permits there are.")
    var permits: Int?

    @Option(help: "How many are held.")
    var count = 1

    @Option(name: .customLong("set"), help: "<n> Set how many permits there are, for all.")
    var new: Int?

    @Flag(help: "Take back the number that was set.")
    var unset = false

    func validate() throws {
        guard new != nil || unset else {
            try holding.tail.require()
            if permits == nil { throw ValidationError("say how many there are: --permits N") }
            return
        }
        if new != nil, unset { throw ValidationError("--set and --unset exclude each other") }
        if !holding.tail.isMissing || permits != nil {
            throw ValidationError("\(unset ? "--unset" : "--set") takes no command and no --permits")
        }
    }

    func run() throws {
        guard let permits else { return try change() }
        try holding.hold(.semaphore) { namespace throws(SpaceError) in
            try namespace.semaphore(holding.name, permits: permits).acquireOrTell(
                count,
                timeout: holding.timeout,
                interruption: Signals.interruption
            )
        }
    }

    private func change() throws {
        let wasSet = try holding.use(for: .semaphore) { namespace in
            let semaphore = namespace.semaphore(holding.name, permits: 1)
            return if let new { try semaphore.setPermits(new) } else { try semaphore.remove() }
        }
        if unset, !wasSet { throw holding.status.nothingObtained }
    }
}
