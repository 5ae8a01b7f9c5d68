import CSpaceShims

/// Waiting a little while awake, for what another processor is about to do.
package enum Spin {
    /// Whether another thread can run meanwhile: on one processor spinning only delays what one waits for.
    package static let isWorthwhile = space_usable_processors() > 1

    /// Tells the processor that this is a spin loop.
    @inlinable
    package static func pause() { space_pause() }

    /// Looks again and again, at most `rounds` times, with a pause in between.
    ///
    /// - Returns: whether `condition` came true.
    @inlinable
    package static func wait(rounds: Int, until condition: () -> Bool) -> Bool {
        guard isWorthwhile else { return condition() }
        for _ in 0..<max(1, rounds) {
            if condition() { return true }
            pause()
        }
        return condition()
    }
}
