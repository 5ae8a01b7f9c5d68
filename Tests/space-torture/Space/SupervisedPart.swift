import Glibc
import SpaceSystem

/// A part whose workers are forked by supervisors, which are forked before this process works.
protocol SupervisedPart {
    var options: Options { get }

    /// Forks one worker after the other, in a process of its own.
    func supervise(_ worker: Int)

    /// Lets the workers go on for the part's time, and returns the findings.
    func work(_ supervisors: [pid_t]) throws -> Report
}

extension SupervisedPart {
    func run(_ report: (Report) throws -> Void) throws -> Never {
        let supervisors = try Process.supervisors(options.processes, supervise)
        Process.work { try report(work(supervisors)) }
    }

    /// Waits until the part's time has passed, or until `isOver`; notes `progress` every five seconds.
    ///
    /// A part that `hasBegun` too late, on a machine that has other work, gets a minute more: it would show nothing.
    func spendTime(until isOver: () -> Bool, hasBegun: () -> Bool, progress: () -> String) {
        let start = MonotonicInstant.now
        var told = start
        while !isOver() {
            let spent = MonotonicInstant.now.duration(since: start)
            if spent >= .seconds(options.seconds), hasBegun() || spent >= .seconds(options.seconds + 60) { break }
            usleep(20_000)
            guard MonotonicInstant.now.duration(since: told) > .seconds(5) else { continue }
            told = MonotonicInstant.now
            note(progress())
        }
    }
}
