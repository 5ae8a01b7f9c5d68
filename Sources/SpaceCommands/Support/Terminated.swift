/// A signal asked the command to end; `Signals.pending` is its number.
struct Terminated: Error {}
