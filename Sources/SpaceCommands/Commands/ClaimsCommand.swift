import CommandWords
import SpaceInspection

/// The command `space claims NS [ID]`.
struct ClaimsCommand: ParsableCommand {
    static let commandName = "claims"
    static let configuration = CommandConfiguration(
        abstract: "Print what is claimed, or buried.",
        discussion: """
            A line for each claim, the oldest tuple first:
              {"id":3,"pid":…,"deadline":…,"tuple_id":7,"deliveries":0,"tuple":[…]}
            'id' is the claim's, 'pid' its owner's, 'deadline' milliseconds since 1970 or null, 'deliveries' how often a claim \
            on the tuple came back. A tuple that rests ('claim --retry-delay') has the id 0 and no process, and returns at its \
            deadline. With --buried a line for each tuple that was buried; its 'id' is the tuple's. With ID \
            only that claim; the status is 1 when there is none.

            EXAMPLES:
              space claims jobs
              file=$(space claims jobs $id --tuple --field 2 -r)
              space claims jobs --buried
            """
    )

    @OptionGroup var common: CommonOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var printing: PrintOptions

    @Flag(help: "What is buried, instead.")
    var buried = false

    @Flag(help: "Print only the tuples.")
    var tuple = false

    @Flag(help: "JSON lines, which is what it prints anyway.")
    var json = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<id> The claim's id, or with --buried the tuple's.", completion: .claims)
    var id: UInt64?

    func validate() throws {
        if !tuple, printing.raw || printing.field != nil { throw ValidationError("--field and -r are for --tuple") }
    }

    func run() throws {
        let output = Output()
        var hasFound = false
        try NamespaceAccess(common, namespace).use { namespace in
            try namespace.forEachClaimPart(buried: buried) { claims in
                try Signals.check()
                for claim in claims where id == nil || id == (buried ? claim.held.id.rawValue : claim.held.number) {
                    hasFound = true
                    try output.print(tuple ? try printing.line(claim.held.tuple) : .text(line(claim)))
                }
                try output.flush()
            }
        }
        if id != nil, !hasFound { throw status.nothingObtained }
    }

    private func line(_ claim: NamespaceStatus.Claim) -> String {
        (buried ? claim.buriedObject : claim.object).json
    }
}
