import Glibc
import SharedSpace
import SpaceSystem

/// What a command may go on with only as long as it is held: leadership, a lock, permits; or time.
///
/// Guarantees: a command whose right is taken away (a leader that is deposed) gets SIGTERM within a tick, and SIGKILL when it
/// is still there after the grace; then, or when it has ended before, all that it has started is killed. The time until then is
/// what the fencing number is for: and while this process is stopped it does not look.
struct CommandRight {
    /// Whether it is still held.
    let isHeld: () -> Bool
    /// How long the command has to end by itself.
    let grace: Duration
    /// A descriptor that can be read once it is no longer held; negative: only ticks tell.
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
    /// `pid`: Its guardian, which this process has not waited for yet, so the number can't be another process's.
    ///
    /// Returns: When to look again; `nil`: there is nothing left to do.
    mutating func enforce(on pid: pid_t) -> Duration? {
        if !isLost {
            if !deadline.hasPassed, isHeld() { return min(Limits.tick, deadline.remaining) }
            isLost = true
            killTime = .now.advanced(by: grace)
            // Told once; it stays readable.
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
