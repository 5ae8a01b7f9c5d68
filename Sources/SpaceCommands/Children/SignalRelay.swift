import Glibc
import SpaceSystem

/// Passes each signal that asks this process to end on to a command, also those after one that the command has
/// survived.
///
/// Guarantees: a signal that the terminal has sent to the whole process group reaches the command once, because this
/// process does not pass it on to a command that has got it. A signal that a process has sent is passed on, because
/// nothing tells whether it was sent to this process alone.
struct SignalRelay {
    /// Signals that came while the command was being started, and that the command has not got.
    private var missed: UInt64

    init(to program: borrowing Guardian.Program) {
        missed = program.missedSignals
    }

    /// Passes on the signals that have come.
    ///
    /// `guardian`: The command's guardian. This process has not waited for it yet, so the number can't be another
    /// process's.
    mutating func passOn(to guardian: pid_t) {
        for arrival in Signals.takeArrived() {
            let isMissed = missed & 1 << UInt64(arrival.number) != 0
            Guardian.passOn(arrival.number, to: guardian, isToGroup: arrival.isToGroup && !isMissed)
        }
        // All that came while the command was being started has arrived before the first call.
        missed = 0
    }
}
