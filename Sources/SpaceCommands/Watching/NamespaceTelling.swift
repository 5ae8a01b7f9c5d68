import SharedSpace
import SpaceSystem
import SystemPackage

/// What `watch --namespaces` does: prints which namespaces come and go.
struct NamespaceTelling {
    let max: Int
    /// After how long without a change it ends.
    let quiet: Duration?

    /// - Returns: Whether there was anything to tell.
    func run(_ changes: SpaceChanges) throws -> Bool {
        let output = Output()
        output.append(line: ChangeReport.ready())
        try output.flush()
        var count = 0
        while count < max, let change = try next(changes, output) {
            output.append(line: ChangeReport.line(change))
            // One at a time: whoever reads them acts on them.
            try output.flush()
            count += 1
        }
        return count > 0
    }

    /// The next change; `nil` when the time is over.
    private func next(_ changes: SpaceChanges, _ output: Output) throws -> SpaceChange? {
        let deadline = MonotonicInstant.deadline(after: quiet) ?? .distantFuture
        while true {
            try Signals.check()
            let look = min(deadline, .now.advanced(by: ChangeTelling.look))
            if let change = try changes.nextBlocking(timeout: look.remaining, interruption: Signals.interruption) {
                return change
            }
            if deadline.hasPassed { return nil }
            if output.isAbandoned { throw OutputFailure(cause: .brokenPipe) }
        }
    }
}
