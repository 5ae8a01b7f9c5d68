import Glibc
import SharedSpace
import SpaceSystem

extension OwnerOptions.Choice {
    /// Tells on standard error with which process a namespace ends that was created for an owner that was found.
    ///
    /// The caller knows of an owner that it has named, and of its own interactive shell.
    func tell(creationOf name: String) {
        guard case .found(let process) = self, !process.isInteractiveShellOfCaller else { return }
        let command = ProcessIdentity.commandName(of: process.pid).map { " (\($0))" } ?? ""
        Messages.hint(
            "created \(name.quotedForPeople); it goes when process \(process.pid)\(command) has ended; "
                + "see 'space help environment'"
        )
    }
}

extension ProcessIdentity {
    /// Whether this is the interactive shell of the person who has called this command.
    ///
    /// It leads the session of a terminal that is this command's standard input or error, and it has given the
    /// command's job a process group. A shell that runs a script, or the line of `ssh -t host …`, has its commands in
    /// its own group. A command that puts itself into another one, such as timeout(1), looks like a job.
    fileprivate var isInteractiveShellOfCaller: Bool {
        getsid(0) == pid && getpgrp() != pid && [STDIN_FILENO, STDERR_FILENO].contains { tcgetsid($0) == pid }
    }
}
