public import CSpaceShims

// This type is public so that the compiler inlines it, as SharedWord.swift explains.

/// Short waits in a loop, for something that another processor is about to do.
public enum Spin {
    /// Whether another thread can run meanwhile: on a single processor, spinning only delays the thread that is waited
    /// for.
    public static let isWorthwhile = space_usable_processors() > 1

    /// Tells the processor that this is a spin loop.
    @inlinable
    public static func pause() { space_pause() }

    /// Waits between two checks of a condition that another thread is about to make true: mostly a pause, and on each
    /// 64th round, after about two microseconds, the thread lets others of its processor run.
    ///
    /// The thread that is waited for may be one of them: the kernel often puts a thread that it wakes on its waker's
    /// processor. A spin would then only keep the other thread from its work.
    @inlinable
    public static func pauseOrYield(_ round: Int) {
        if round & 63 == 63 { space_yield() } else { pause() }
    }

    /// Checks a condition repeatedly, with a pause in between.
    ///
    /// - Parameters:
    ///   - rounds: the largest number of checks; one last check follows them.
    ///   - yielding: whether the other threads of this processor may run now and then.
    ///   - condition: called at each check.
    /// - Returns: whether `condition` came true.
    @inlinable
    public static func wait(rounds: Int, yielding: Bool = false, until condition: () -> Bool) -> Bool {
        guard isWorthwhile else { return condition() }
        for round in 0..<max(1, rounds) {
            if condition() { return true }
            if yielding { pauseOrYield(round) } else { pause() }
        }
        return condition()
    }
}
