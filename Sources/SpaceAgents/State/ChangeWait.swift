import SpaceSystem
import TupleSpace

extension Namespace {
    /// Looks until `look` finds something: after each change, and when a process ends that has claimed something, or
    /// written something that ends with it.
    ///
    /// - Parameters:
    ///   - deadline: When to give up.
    ///   - interruption: Ends the wait.
    ///   - looksAgain: After how long to look again although nothing has changed, asked after each look; `nil`: not.
    ///   - look: Looks; `nil` if there is nothing yet.
    /// - Returns: What the look found; `nil` if the time passed first.
    /// - Throws: `cancelled` if the wait is ended.
    func wait<Result>(
        until deadline: MonotonicInstant,
        interruption: Interruption,
        looksAgain: () -> Duration? = { nil },
        _ look: () throws -> Result?
    ) throws -> Result? {
        if let found = try look() { return found }
        if deadline.hasPassed { return nil }
        // The wait is registered before the decisive look, so no change between the two is missed.
        let changes = try changes()
        while true {
            EventLoop.shared.followClaimants(of: core)
            if let found = try look() { return found }
            let rest = deadline.remaining
            let timeout = looksAgain().map { min($0, rest) } ?? rest
            guard try changes.nextBlocking(timeout: timeout, interruption: interruption) != nil else {
                if deadline.hasPassed { return try look() }
                continue
            }
            // A look sees everything that came before it. Other processes may go on writing without an end.
            var most = 1000
            while most > 0, try changes.nextBlocking(timeout: .zero, interruption: interruption) != nil { most -= 1 }
        }
    }
}
