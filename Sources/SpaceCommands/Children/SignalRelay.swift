import Glibc
import SharedSpace
import SpaceSystem

/// Passes the signals that ask this process to end on to a command: each one, also after one that the command has survived.
///
/// A terminal sends SIGINT to the command too, and a second one often means more than the first. So SIGINT is passed on a
/// second later, to a command that is still there.
struct SignalRelay {
    private static let patience = Duration.seconds(1)
    private var interruptTime: MonotonicInstant?

    /// Passes on what has come.
    ///
    /// `guardian`: The command's guardian, which this process has not waited for yet, so the number can't be another process's.
    ///
    /// Returns: When to look again; `nil`: when a signal comes.
    mutating func passOn(to guardian: pid_t) -> Duration? {
        for number in Signals.takeArrived() {
            if number != SIGINT {
                kill(guardian, number)
            } else if interruptTime == nil {
                interruptTime = .now.advanced(by: Self.patience)
            }
        }
        guard let time = interruptTime else { return nil }
        guard time.hasPassed else { return time.remaining }
        interruptTime = nil
        kill(guardian, SIGINT)
        return nil
    }
}
