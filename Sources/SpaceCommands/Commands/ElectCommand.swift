import CommandWords
import Glibc
import SharedSpace

/// The command `space elect NS NAME -- CMD…`.
struct ElectCommand: ParsableCommand {
    static let commandName = "elect"
    static let configuration = CommandConfiguration(
        abstract: "Run a command as the leader, or show the leader.",
        usage: """
            space elect [<options>] <ns> <name> [-- <cmd> ...]
            space elect <ns> <name> --proclaim <json>
            space elect <ns> <name> --depose
            """,
        discussion: """
            Stands for leadership without limit, unless --wait, and runs CMD as leader; when it ends the next in the queue leads. \
            CMD finds the number of its term, greater than all before, in $\(HoldingOptions.variable). Without CMD it prints the \
            leader as JSON; 1 when there is none. --depose ends the term of a leader that is stopped or stuck: the next leads at \
            once, and CMD of the old one gets SIGTERM, and SIGKILL if it goes on for longer than --grace. Its status is 75 then. --proclaim, in CMD, replaces what the others see of \
            this leader; 1 when its term is over.

            EXAMPLES:
              space elect cluster scheduler --as '"node-1"' -- ./schedule
              space elect cluster scheduler
              space elect cluster scheduler -- sh -c 'space elect cluster scheduler --proclaim "\\"$(hostname):80\\""; serve'
            """
    )

    @OptionGroup var holding: HoldingOptions

    @Option(name: .customLong("as"), help: "<json> What the others see of this leader.")
    var value: String?

    @Flag(help: "End the present leader's term.")
    var depose = false

    @Option(help: "<duration> How long CMD may go on after SIGTERM when it was deposed (default: 5s).")
    var grace: Duration?

    @Option(help: "<json> In the leader's command: what the others see of it from now on.")
    var proclaim: String?

    func validate() throws {
        if proclaim != nil, depose || !holding.tail.isMissing {
            throw ValidationError("--proclaim goes alone, in the command that the leader runs")
        }
        if depose, !holding.tail.isMissing { throw ValidationError("--depose runs no command") }
        if holding.tail.isMissing, value != nil || grace != nil {
            throw ValidationError("--as and --grace are for a candidate: put '--' and the command at the end")
        }
    }

    func run() throws {
        if let proclaim {
            try tell(proclaim)
        } else if depose {
            let wasThere = try look { election throws(SpaceError) in try election.depose() }
            if !wasThere { throw holding.status.nothingObtained }
        } else if holding.tail.isMissing {
            guard let leader = try look({ election throws(SpaceError) in try election.leader() }) else {
                throw holding.status.nothingObtained
            }
            try Output.print(["term": leader.term, "pid": leader.pid, "value": leader.value])
        } else {
            let value = try value.map { try JSONText.value($0, what: "--as") } ?? .null
            try holding.hold(.election, grace: grace ?? .seconds(5)) { namespace throws(SpaceError) in
                try namespace.election(holding.name).acquireOrTell(
                    value,
                    timeout: holding.timeout,
                    interruption: Signals.interruption
                )
            }
        }
    }

    private func tell(_ json: String) throws {
        guard let text = getenv(HoldingOptions.variable).map({ String(cString: $0) }), let term = UInt64(text) else {
            throw CommandFailure.usage(
                "--proclaim is for the command of 'space elect': $\(HoldingOptions.variable) is not set, or no number"
            )
        }
        let value = try JSONText.value(json, what: "--proclaim")
        do {
            try look { election throws(SpaceError) in try election.proclaim(value, term: term) }
        } catch let error as SpaceError where error.code == .holdLost {
            throw holding.status.nothingObtained("\(error)")
        }
    }

    private func look<Result>(_ body: (Election) throws(SpaceError) -> Result) throws -> Result {
        try holding.checkedAccess(for: .election).use { try body($0.election(holding.name)) }
    }
}
