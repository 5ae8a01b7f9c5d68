import Glibc
import SharedSpace
import SpaceSystem

/// What a command may go on with only as long as it is held: leadership, a lock, permits; or time.
///
/// Guarantees: a command whose right is taken away (a leader that is deposed) gets SIGTERM within a tick, and SIGKILL when it
/// is still there after the grace. What it has started in its turn, and the time until then, is what the fencing
/// number is for: and while this process is stopped nobody looks.
struct CommandRight {
    /// Whether it is still held.
    let isHeld: () -> Bool
    /// How long the command has to end by itself.
    let grace: Duration

    private let deadline: MonotonicInstant
    private var isLost = false
    private var killTime: MonotonicInstant?

    init(until deadline: MonotonicInstant = .distantFuture, grace: Duration, isHeld: @escaping () -> Bool = { true }) {
        self.deadline = deadline
        self.grace = grace
        self.isHeld = isHeld
    }

    /// Ends the command if the right is lost.
    ///
    /// Its parent calls this before it has waited for it, so the number can't be another process's.
    ///
    /// Returns: When to look again; `nil`: there is nothing left to do.
    mutating func enforce(on pid: pid_t) -> Duration? {
        if !isLost {
            if !deadline.hasPassed, isHeld() { return min(Limits.tick, deadline.remaining) }
            isLost = true
            killTime = .now.advanced(by: grace)
            kill(pid, SIGTERM)
        }
        guard let killTime else { return nil }
        if !killTime.hasPassed { return killTime.remaining }
        kill(pid, SIGKILL)
        self.killTime = nil
        return nil
    }
}
