import Glibc
import SeededRandom
import SpaceSystem

extension Process {
    /// Plays rounds one after the other, each in a child, until the time has passed, or until a planted fault was
    /// found.
    ///
    /// Rounds are children because a process that forks must have nothing open: each child forks first, and then works.
    /// `atLeast`: The least number of rounds, even if they take longer, when no fault is to be found.
    /// `begin`: Runs before each round.
    /// `round`: Runs in the child, with a seed of its own; it ends the child by `work`.
    /// `hasFound`: Whether the planted fault was found; a child that ends badly is counted in `failures`.
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
        // In seconds: longer than all waits of a round, one after the other.
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

    /// Lets the workers of a round go on for its time; if they are slow to begin, until the round's purpose is met, or
    /// until the time for that has passed too.
    ///
    /// `stop`: Ends the round at once.
    /// `attend`: Runs meanwhile, again and again.
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

    /// How many microseconds a worker has that is to end by itself: its longest wait, and time to begin and to end.
    static func sparedLife(_ options: Options) -> Int { (options.patience + 30) * 1_000_000 }

    /// How many microseconds a worker has; one in eight has ten times as many, so that work is done also where
    /// beginning takes long, under a sanitizer for example.
    static func life(_ microseconds: ClosedRange<Int>, using generator: inout SeededGenerator) -> Int {
        Int.random(in: microseconds, using: &generator) * (Int.random(in: 0..<8, using: &generator) == 0 ? 10 : 1)
    }

    /// Counts how a worker ended: killed, or done with its work.
    static func tally(_ end: End, kills: SharedWord64, failures: SharedWord64) {
        switch end {
        case .killed(SIGKILL): _ = kills.add(1)
        case .exited(0): break
        default: _ = failures.add(1)
        }
    }
}
