import SpaceSystem
import SystemPackage

/// Waits for what a watch tells.
enum Lookout {
    /// How often a watch without changes looks whether its standard output still has a reader.
    private static let interval = Duration.seconds(1)

    /// The next change; `nil` when the time is over, or when the sequence has ended.
    ///
    /// `output`: Where the changes are printed; `nil` if a command gets them.
    ///
    /// `wait`: Waits for a change, for as long as its argument says.
    ///
    /// - Throws: `Terminated` on a signal, `OutputFailure` if no process reads the output now.
    static func next<Change>(
        until deadline: MonotonicInstant,
        printingTo output: Output?,
        _ wait: (Duration) throws -> Change?
    ) throws -> Change? {
        while true {
            try Signals.check()
            let look = min(deadline, .now.advanced(by: interval))
            if let change = try wait(look.remaining) { return change }
            // If `wait` returns before its time is over, the sequence has ended.
            if deadline.hasPassed || !look.hasPassed { return nil }
            if let output, output.isAbandoned { throw OutputFailure(cause: .brokenPipe) }
        }
    }
}
