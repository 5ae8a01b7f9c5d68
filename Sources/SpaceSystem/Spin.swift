public import CSpaceShims

// This type is public so that the compiler inlines it, as SharedWord.swift explains.

/// Short waits in a loop, for something that another processor is about to do.
///
/// A spin is bounded and never yields. `sched_yield(2)` hands the rest of a time slice, some milliseconds, to any other
/// thread that can run on this processor, so on a busy machine each yield would cost that much. A thread that last ran
/// on this processor can't go on while this one spins, so a spin for it ends at once: the caller sleeps instead.
public enum Spin {
    /// The number of the processor on which this thread runs, plus 1; 0 if it is not known.
    @inlinable public static var processor: UInt32 { space_processor() }

    /// Whether a thread that last ran on a processor with this number may run beside this one.
    ///
    /// - Parameter number: as `processor` was for that thread; 0 if it is not known.
    /// - Returns: `false` if either number is not known.
    @inlinable
    public static func isApart(_ number: UInt32) -> Bool {
        let here = processor
        return number != 0 && here != 0 && number != here
    }

    /// Tells the processor that this is a spin loop.
    @inlinable
    public static func pause() { space_pause() }

    /// Whether a spin asks in this round where both threads run now: in the first one and each 64th after it.
    @inlinable
    public static func asksWhere(in round: Int) -> Bool { round & 63 == 0 }

    /// Checks a condition repeatedly, with a pause in between.
    ///
    /// - Parameters:
    ///   - rounds: the largest number of checks; one last check follows them.
    ///   - isApart: whether the thread that is waited for last ran on another processor, asked now and then.
    ///   - condition: called at each check.
    /// - Returns: whether `condition` came true; `nil` if the spin ended because of `isApart`.
    @inlinable
    public static func wait(
        rounds: Int,
        while isApart: () -> Bool,
        until condition: () -> Bool
    ) -> Bool? {
        for round in 0..<max(1, rounds) {
            if condition() { return true }
            if asksWhere(in: round), !isApart() { return nil }
            pause()
        }
        return condition()
    }
}
