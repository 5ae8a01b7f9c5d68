import Glibc
import SeededRandom
import SpaceSystem

extension Process {
    /// Plays rounds one after the other, each in a child, until the time has passed, or until what is to be found is found.
    ///
    /// In children, since who forks has nothing open: each forks first, and then works.
    /// `atLeast`: How many are played also when it takes longer, and nothing is to be found.
    /// `begin`: Before each.
    /// `round`: In the child, with a seed of its own; it ends the child by `work`.
    /// `hasFound`: Whether what a planted fault comes to was found; a child's own end, if it is no good one, is for `failures`.
    static func playRounds(
        _ options: Options,
        _ rounds: SharedWord64,
        _ failures: SharedWord64,
        atLeast least: Int = 0,
        begin: () -> Void,
        hasFound: () -> Bool,
        progress: () -> String,
        round: (UInt64) throws -> Never
    ) throws {
        var generator = SeededGenerator(seed: options.seed)
        // In seconds: longer than all that a round waits for, one after the other.
        let standstill = 180 + 4 * options.patience
        let start = MonotonicInstant.now
        var told = start
        while MonotonicInstant.now.duration(since: start) < .seconds(options.seconds) || rounds.load() < UInt64(least),
            !(options.isToFail && hasFound())
        {
            begin()
            let seed = generator.next()
            let child = try Process.start {
                do {
                    try round(seed)
                } catch {
                    note("a round failed: \(error)")
                    return 1
                }
            }
            let (end, wasKilledHere) = wait(child, atMost: standstill * 1_000_000)
            if wasKilledHere { note("a round did not end within \(standstill) s") }
            if end != .exited(0) { _ = failures.add(1) }
            _ = rounds.add(1)
            if MonotonicInstant.now.duration(since: told) > .seconds(5) {
                told = MonotonicInstant.now
                note(progress())
            }
        }
    }

    /// Lets the workers of a round go on for its time; where they are slow to begin, until what it is for was done, or the
    /// time that there is for it has passed too.
    ///
    /// `stop`: Ends it at once.
    /// `attend`: What is done meanwhile, again and again.
    static func letWork(
        for time: Duration,
        until isDone: () -> Bool,
        stop: SharedWord64,
        attend: () throws -> Void = { usleep(1000) }
    ) rethrows {
        let deadline = MonotonicInstant.now.advanced(by: time)
        let limit = deadline.advanced(by: .seconds(20))
        while stop.load() == 0, !deadline.hasPassed || (!isDone() && !limit.hasPassed) { try attend() }
        stop.storeSequential(1)
    }

    /// How many microseconds a worker has that is to end by itself: as long as it may wait, and time to begin and to end.
    static func sparedLife(_ options: Options) -> Int { (options.patience + 30) * 1_000_000 }

    /// How many microseconds a worker has; one in eight has ten times as many, so that something is done also where it takes
    /// long to begin, under a sanitizer say.
    static func life(_ microseconds: ClosedRange<Int>, using generator: inout SeededGenerator) -> Int {
        Int.random(in: microseconds, using: &generator) * (Int.random(in: 0..<8, using: &generator) == 0 ? 10 : 1)
    }

    /// Counts how a worker ended, who was killed, or had done what there was to do.
    static func tally(_ end: End, kills: SharedWord64, failures: SharedWord64) {
        switch end {
        case .killed(SIGKILL): _ = kills.add(1)
        case .exited(0): break
        default: _ = failures.add(1)
        }
    }
}
