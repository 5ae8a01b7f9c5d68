import CommandWords
import SharedSpace

/// The command `space take NS TEMPLATE…`.
///
/// It claims, prints, flushes, completes: a tuple leaves the space only after write(2) has accepted it. If a tuple
/// can't be printed (no reader, a full device, a signal), it is released and stays. If the process is killed between
/// printing and completing, the tuple returns too, so another process may print it again: a tuple may be printed twice,
/// never lost.
struct TakeCommand: ParsableCommand {
    static let commandName = "take"
    static let configuration = CommandConfiguration(
        abstract: "Print the oldest tuple that matches, and remove it.",
        isEssential: true,
        discussion: """
            Of several templates it takes the oldest match of any. Tries once, unless --wait; with --max, --wait waits for \
            the first, and then takes what else is there. The status is 1 when nothing matched or time passed, and 69 when there is no such \
            namespace; with --wait a missing namespace counts as nothing yet. A tuple that could not be printed stays.

            EXAMPLES:
              space take jobs '["resize", "?int", "?string"]'
              while job=$(space take jobs --wait 1m '["resize", "?", "?"]'); do …; done
              space take jobs --wait '["resize", "?", "?"]' '["stop"]'
              space take jobs --all '["done", "?"]' > results
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(defaultAsFlag: WaitLimit.unlimited, help: .wait) var wait: WaitLimit?
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?
    @OptionGroup var matching: MatchOptions
    @OptionGroup var printing: PrintOptions

    @Flag(help: "Take all that match.")
    var all = false

    @Option(help: "<number> Take at most this many.")
    var max: Int?

    @Flag(help: .newest) var newest = false

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    @Argument(help: "<template> What to look for, in JSON form.")
    var templates: [String]

    /// How many tuples are claimed in one transaction.
    private static let batch = 256

    func validate() throws {
        if all, max != nil { throw ValidationError("--all and --max exclude each other") }
        if let max, max < 1 { throw ValidationError("--max is a number from 1") }
    }

    func run() throws {
        let template = Template.anyOf(try templates.map { try matching.template($0) })
        let access = try NamespaceAccess(common, namespace)
        let output = Output()
        let done = try access.obtain(wait, for: owner) { (namespace, remaining) -> Bool? in
            try take(from: namespace, template, remaining, output) ? true : nil
        }
        if done == nil { throw status.nothingObtained }
    }

    /// - Returns: Whether anything was taken.
    private func take(
        from namespace: Namespace,
        _ template: Template,
        _ remaining: Duration?,
        _ output: Output
    ) throws -> Bool {
        var wanted = all ? Int.max : max ?? 1
        var taken = 0
        while wanted > 0 {
            try Signals.check()
            let size = min(wanted, Self.batch)
            var claims = try claimAll(template, of: namespace, max: size)
            if claims.isEmpty, taken == 0, let remaining {
                let first = try namespace.claimBlocking(
                    matching: template,
                    order: MatchOrder(newest: newest),
                    isTake: true,
                    .upTo(remaining),
                    interruption: Signals.interruption
                )
                if let first { claims = [first] }
                if !claims.isEmpty, size > 1 {
                    // More tuples may have come with the one that ended the wait.
                    claims += try claimAll(template, of: namespace, max: size - 1)
                }
            }
            if claims.isEmpty { break }
            try printAndComplete(claims, of: namespace, output)
            // --all means what is there now, not what other processes keep writing: so the rest is counted after the
            // first batch. The size of a batch does not show this: it may be small because the namespace is full.
            if all, taken == 0 {
                wanted = claims.count + (try namespace.count(matching: template))
            }
            taken += claims.count
            wanted -= claims.count
        }
        return taken > 0
    }

    /// Claims what matches now, the oldest first.
    private func claimAll(_ template: Template, of namespace: Namespace, max: Int) throws -> [HeldClaim] {
        let order = MatchOrder(newest: newest)
        // One tuple of several templates is found by their indexes.
        if max == 1 {
            let claim = try namespace.claimBlocking(matching: template, order: order, isTake: true, .none)
            return claim.map { [$0] } ?? []
        }
        return try namespace.claimBriefly(matching: template, order: order, max: max, isTake: true)
    }

    /// Completes the claims whose lines were accepted as a whole, and releases the others.
    private func printAndComplete(_ claims: [HeldClaim], of namespace: Namespace, _ output: Output) throws {
        var ends: [Int] = []
        do {
            // The last look: a signal before it prints nothing, and a signal after it lets the write end.
            try Signals.check()
            for claim in claims {
                output.append(line: try printing.line(claim.tuple))
                ends.append(output.appended)
            }
            try output.flush()
        } catch {
            let printed = ends.prefix { $0 <= output.accepted }.count
            try? namespace.release(Array(claims[printed...]), wasDelivered: false)
            if printed > 0 { try Self.complete(Array(claims[..<printed]), of: namespace) }
            throw error
        }
        try Self.complete(claims, of: namespace)
    }

    /// Completes the claims, in several transactions if one has no room for all of them.
    ///
    /// A printed tuple whose namespace was deleted counts as taken.
    private static func complete(_ claims: [HeldClaim], of namespace: Namespace) throws(SpaceError) {
        do throws(SpaceError) {
            try namespace.complete(claims)
        } catch {
            if error.isOfStorage, claims.count > 1 {
                try complete(Array(claims[..<(claims.count / 2)]), of: namespace)
                try complete(Array(claims[(claims.count / 2)...]), of: namespace)
                return
            }
            guard error.code == .namespaceDeleted else { throw error }
        }
    }
}
