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

    /// Checks a condition repeatedly, with a pause in between.
    ///
    /// - Parameters:
    ///   - rounds: the largest number of checks; one last check follows them.
    ///   - condition: called at each check.
    /// - Returns: whether `condition` came true.
    @inlinable
    public static func wait(rounds: Int, until condition: () -> Bool) -> Bool {
        guard isWorthwhile else { return condition() }
        for _ in 0..<max(1, rounds) {
            if condition() { return true }
            pause()
        }
        return condition()
    }
}
