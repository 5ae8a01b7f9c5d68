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

    /// Checks a condition repeatedly, with a pause in between.
    ///
    /// A pause takes 5 to 50 ns, depending on the processor, so it is the clock that ends a spin, and not a count. Every
    /// 64 rounds the clock is read, and it is asked where both threads run now; before the first the caller asks.
    ///
    /// - Parameters:
    ///   - limit: how long; the last check may come 64 rounds later.
    ///   - isApart: whether the thread that is waited for last ran on another processor.
    ///   - condition: called at each check.
    /// - Returns: whether `condition` came true; `nil` if the spin ended because of `isApart`.
    /// - Throws: what `condition` throws.
    @inlinable
    public static func wait<Failure: Error>(
        for limit: Duration,
        while isApart: () -> Bool,
        until condition: () throws(Failure) -> Bool
    ) throws(Failure) -> Bool? {
        var round = 1
        // Most spins are answered before the clock is read for the first time.
        var end: Int64?
        while true {
            if try condition() { return true }
            if round & 63 == 0 {
                guard isApart() else { return nil }
                if let end {
                    if hasPassed(end) { return false }
                } else {
                    end = moment(after: limit)
                }
            }
            round += 1
            pause()
        }
    }

    /// In nanoseconds of `MonotonicInstant`, which is not public.
    @usableFromInline
    static func moment(after limit: Duration) -> Int64 { MonotonicInstant.now.advanced(by: limit).nanoseconds }

    @usableFromInline
    static func hasPassed(_ moment: Int64) -> Bool { MonotonicInstant(nanoseconds: moment).hasPassed }
}
