import SpaceSystem
import SystemPackage

/// Making somebody else's process an owner.
///
/// The order keeps a PID that is used again from owning anything: open its pidfd, see that it is the process meant (the
/// start time), see that it has not exited, write the file, see again. Where no pidfd is to be had (an old kernel, a
/// container's seccomp profile, no descriptor left), the PID and the start time are looked at before and after.
struct Enrolment {
    let process: ProcessIdentity
    let namespace: String

    private static let operation = "enrol an owner"

    func run(in sessions: borrowing SessionFolder, mode: UInt32) throws(SpaceError) {
        let pid = process.pid
        guard ProcessIdentity.mayExit(pid: pid) else {
            throw refused("PID \(pid) can't own a namespace: it never exits")
        }
        let pidfd = try? PIDFD(pid: pid)
        guard ProcessIdentity.of(pid: pid) == process, !hasExited(pidfd) else {
            throw refused("process \(pid) has exited")
        }
        let file = SessionFile(kind: .enrolled, process: process, isOwning: true)
        try system(Self.operation, "its session file", namespace: namespace) { () throws(Errno) in
            try sessions.enrol(file, mode: mode)
        }
        if hasExited(pidfd) {
            try? sessions.remove(file.name)
            throw refused("process \(pid) has exited")
        }
    }

    private func hasExited(_ pidfd: borrowing PIDFD?) -> Bool {
        switch pidfd {
        case .some(let pidfd): pidfd.hasExited
        case .none: process.life == .dead
        }
    }

    private func refused(_ reason: String) -> SpaceError {
        SpaceError(
            .noSuchProcess,
            Self.operation,
            namespace: namespace,
            reason: reason,
            advice: "name a process that lives as long as the namespace is to"
        )
    }
}
