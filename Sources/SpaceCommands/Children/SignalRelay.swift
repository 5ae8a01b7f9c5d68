import Glibc
import SharedSpace
import SpaceSystem

/// Passes each signal that asks this process to end on to a command, also those after one that the command has
/// survived.
///
/// A terminal sends SIGINT to the command too, and a second SIGINT often means more than the first. So this process
/// waits one second, and passes SIGINT on only if the command is still there.
struct SignalRelay {
    private static let patience = Duration.seconds(1)
    private var interruptTime: MonotonicInstant?

    /// Passes on the signals that have come.
    ///
    /// `guardian`: The command's guardian. This process has not waited for it yet, so the number can't be another
    /// process's.
    ///
    /// Returns: When to look again; `nil` to look when a signal comes.
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
