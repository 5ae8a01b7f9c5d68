/// A signal asked the command to end; `Signals.pending` says which.
struct Terminated: Error {}
