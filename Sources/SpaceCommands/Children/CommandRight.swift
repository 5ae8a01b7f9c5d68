import Glibc
import SharedSpace
import SpaceSystem

/// What a command must hold to go on: leadership, a lock, permits; or time.
///
/// Guarantees: a command that loses its right (a leader that is deposed) gets SIGTERM within a tick. If it is still
/// there after the grace it gets SIGKILL. When it has ended, all that it has started is killed. While this process is
/// stopped it does not look, so the command may go on until then: the fencing number protects against that.
struct CommandRight {
    /// Whether it is still held.
    let isHeld: () -> Bool
    /// How long the command may take to end by itself after SIGTERM.
    let grace: Duration
    /// A descriptor that becomes readable once it is no longer held; negative if only ticks tell.
    private(set) var news: CInt

    private let deadline: MonotonicInstant
    /// Whether the command was asked to end.
    private(set) var isLost = false
    private var killTime: MonotonicInstant?

    init(
        until deadline: MonotonicInstant = .distantFuture,
        grace: Duration,
        news: CInt = -1,
        isHeld: @escaping () -> Bool = { true }
    ) {
        self.news = news
        self.deadline = deadline
        self.grace = grace
        self.isHeld = isHeld
    }

    /// Ends the command if the right is lost.
    ///
    /// `pid`: The command's guardian. This process has not waited for it yet, so the number can't be another process's.
    ///
    /// Returns: When to look again; `nil` if there is nothing left to do.
    mutating func enforce(on pid: pid_t) -> Duration? {
        if !isLost {
            if !deadline.hasPassed, isHeld() { return min(Limits.tick, deadline.remaining) }
            isLost = true
            killTime = .now.advanced(by: grace)
            // The descriptor stays readable: polling it again would return at once.
            news = -1
            kill(pid, SIGTERM)
        }
        guard let killTime else { return nil }
        if !killTime.hasPassed { return killTime.remaining }
        Guardian.end(pid)
        self.killTime = nil
        return nil
    }
}
