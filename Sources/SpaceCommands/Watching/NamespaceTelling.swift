import SharedSpace
import SpaceSystem

/// What `watch --namespaces` does: prints which namespaces come and go.
struct NamespaceTelling {
    let max: Int
    /// How long it waits for a change before it ends, or `nil` to wait indefinitely.
    let quiet: Duration?

    /// - Returns: Whether there was a change to print.
    func run(_ changes: SpaceChanges) throws -> Bool {
        let output = Output()
        output.append(line: ChangeReport.ready())
        try output.flush()
        var count = 0
        while count < max, let change = try next(changes, output) {
            output.append(line: ChangeReport.line(change))
            // One change at a time, because the reader acts on each.
            try output.flush()
            count += 1
        }
        return count > 0
    }

    private func next(_ changes: SpaceChanges, _ output: Output) throws -> SpaceChange? {
        try Lookout.next(until: .deadline(after: quiet) ?? .distantFuture, printingTo: output) {
            try changes.nextBlocking(timeout: $0, interruption: Signals.interruption)
        }
    }
}
