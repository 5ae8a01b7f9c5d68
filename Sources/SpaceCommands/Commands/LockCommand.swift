import CommandWords
import SharedSpace

/// The command `space lock NS NAME -- CMD…`.
struct LockCommand: ParsableCommand {
    static let commandName = "lock"
    static let configuration = CommandConfiguration(
        abstract: "Hold a named lock while a command runs.",
        isEssential: true,
        usage: "space lock [<options>] <ns> <name> -- <cmd> ...",
        discussion: """
            Like flock(1), but fair: requests are served in their order, and a reader does not overtake a writer that waits. Waits \
            without limit, unless --wait. The status is CMD's (128 + n for a signal; 126 and 127 as the shell's), and 1 when the \
            lock was not free in time. If this process dies CMD is killed, with all that it has started, and the next in the \
            queue holds the lock; some of them may live some milliseconds into its time. SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGALRM are passed on to \
            CMD, but not a signal that the terminal has sent to CMD too (^C). One that a process sends to the whole process group \
            (kill -- -PGID) reaches CMD twice, because nothing tells it from one that was sent to this process alone. When CMD \
            ends after a signal, what it has left is killed. If CMD ends by itself, what it leaves behind goes on. CMD finds the \
            fencing number, which is greater for every later holder, in $\(HoldingOptions.variable). With --also, CMD runs while all the locks are held, and finds \
            their numbers with spaces in between; they are acquired in the order of their names, so that no two commands wait \
            for each other in a circle.

            EXAMPLES:
              space lock jobs deploy -- ./deploy
              space lock jobs --wait 0 -E 9 deploy -- ./deploy
              space lock jobs --shared data -- ./report
              space lock bank account-7 --also account-9 -- ./transfer
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Flag(help: "Share it with other holders that do; wait while it is held exclusively.")
    var shared = false

    @Option(help: "<name> Another lock to hold at the same time; it may come several times.")
    var also: [String] = []

    func validate() throws { try holding.tail.require() }

    func run() throws {
        if !also.isEmpty { return try holdAll() }
        try holding.hold(.lock) { namespace throws(SpaceError) in
            try namespace.lock(holding.name).acquireOrTell(
                shared ? .shared : .exclusive,
                timeout: holding.timeout,
                interruption: Signals.interruption
            )
        }
    }

    private func holdAll() throws {
        let access = try NamespaceAccess(holding.common, holding.namespace)
        for name in also { try access.check(name, of: .lock) }
        try holding.hold(
            .lock,
            all: { (namespace) throws(SpaceError) in
                try namespace.acquireOrTell(
                    [holding.name] + also,
                    shared ? .shared : .exclusive,
                    timeout: holding.timeout,
                    interruption: Signals.interruption
                )
            }
        )
    }
}
