import CommandWords
import SharedSpace

/// The command `space txn NS`.
struct TxnCommand: ParsableCommand {
    static let commandName = "txn"
    static let configuration = CommandConfiguration(
        abstract: "Do several things in one transaction: all or nothing.",
        discussion: """
            Reads operations from standard input, one a line, does them in order, and prints their results, one a line, once all \
            are done. Each sees what those before it did; other processes see nothing until then. An operation is an array:
              ["write", TUPLE]          its id             ["set", KEY, VALUE]    the old value, or null
              ["take", TEMPLATE]        the tuple          ["get", KEY]           the value
              ["take-all", TEMPLATE]    all that match     ["unset", KEY]         the old value
              ["read", TEMPLATE]        the tuple          ["incr", KEY, N]       the sum
              ["count", TEMPLATE]       how many match     ["post", NAME, VALUE]  null
              ["move", FROM, TO]        the tuple taken    ["complete", ID], ["release", ID]: the claimed tuple
            or an object, {"op": "write", "tuple": …, "expires": "5s"}, with the names tuple, template, from, to, key, value, by, \
            name, id; set takes "if_equals" or "if_absent" too. The tuple of ["write", TUPLE, "5s"] expires, too.

            Where there is nothing to take, move, read, get or unset, or a cell is not as expected, nothing is done and the status \
            is 1; with "optional": true the result is null, or false, instead. Where standard output is closed nothing is done \
            either, and the status is 74; what is done when a result turns out not to be printable stays done.

            EXAMPLE:
              printf '%s\\n' '["take", ["token"]]' '["write", ["done", 7]]' '["incr", "count"]' | space txn jobs
            """
    )

    @OptionGroup var common: CommonOptions
    @OptionGroup var owner: OwnerOptions
    @Option(name: .nothing, help: .nothing) var status: NothingStatus?

    @Argument(help: .namespace, completion: .namespaces) var namespace: String

    func run() throws {
        // Read to the end before anything is locked, so that a slow writer of the pipe blocks no other process.
        var steps: [TransactionStep] = []
        var input = Input()
        while let line = try input.next() { steps.append(try TransactionStep(line, at: input.line)) }
        let access = try NamespaceAccess(common, namespace)
        try Output().checkTaken()
        let results = try access.use(for: owner) { namespace in
            do {
                return try TransactionStep.run(steps, in: namespace)
            } catch let error as TransactionStep.NothingFound {
                throw status.nothingObtained(error.message)
            }
        }
        try Output.print(lines: results.map(\.json))
    }
}

extension TransactionStep {
    /// Reads a line of standard input.
    ///
    /// - Throws: `CommandFailure` (bad data) for one that is not an operation.
    init(_ line: String, at number: Int) throws {
        let what = "standard input, line \(number)"
        do {
            try self.init(try JSONText.line(line, what: what), what: what)
        } catch let fault as Fault {
            throw CommandFailure.badData(fault.reason)
        }
    }
}
