import SpaceSystem
import TupleCoding

extension SpaceError {
    /// Makes an error for a lock that could not be taken in time.
    package init(_ failure: ProcessLock.Failure) {
        if let errno = failure.errno {
            self.init(errno, subject: "the \(failure.lock.rawValue)")
            return
        }
        if failure.orphanedBy != 0 {
            self.init(
                .holderBusy,
                reason:
                    "the \(failure.lock.rawValue) is held by the thread \(failure.orphanedBy), which doesn't exist any more",
                advice: "try again; if that doesn't help, end the namespace's processes and delete it"
            )
            return
        }
        let command = ProcessIdentity.commandName(of: failure.pid).map { " (\($0))" } ?? ""
        if let halt = failure.halt {
            self.init(
                .holderStopped,
                holder: failure.pid,
                reason: "process \(failure.pid)\(command) holds the \(failure.lock.rawValue) and is \(halt.phrase)",
                advice: halt.advice(for: failure.pid) + ", then try again"
            )
        } else {
            self.init(
                .holderBusy,
                holder: failure.pid,
                reason: "the \(failure.lock.rawValue) could not be acquired in time; "
                    + (failure.pid > 0 ? "process \(failure.pid)\(command) holds it" : "others kept taking it"),
                advice: "try again"
            )
        }
    }
}
