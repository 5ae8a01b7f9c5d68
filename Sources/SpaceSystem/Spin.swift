public import CSpaceShims

// Public for the sake of inlining, as SharedWord.swift explains.

/// Waiting a little while awake, for what another processor is about to do.
public enum Spin {
    /// Whether another thread can run meanwhile: on one processor spinning only delays what one waits for.
    public static let isWorthwhile = space_usable_processors() > 1

    /// Tells the processor that this is a spin loop.
    @inlinable
    public static func pause() { space_pause() }

    /// Looks again and again, at most `rounds` times, with a pause in between.
    ///
    /// - Parameters:
    ///   - rounds: how often at most; one more look follows.
    ///   - condition: what is waited for.
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
