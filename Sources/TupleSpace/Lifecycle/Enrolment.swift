import SpaceSystem
import SystemPackage

/// Makes another process an owner.
///
/// The order prevents a reused PID from owning anything: open the process's pidfd, check that it is the intended
/// process (by the start time), check that it has not exited, write the file, check again. If no pidfd is available (an
/// old kernel, a container's seccomp profile, no descriptor left), the PID and the start time are checked before and
/// after.
struct Enrolment {
    let process: ProcessIdentity

    func run(in sessions: borrowing SessionFolder, mode: UInt32) throws(SpaceError) {
        let pid = process.pid
        guard ProcessIdentity.mayExit(pid: pid) else {
            throw .noSuchProcess("PID \(pid) can't own a namespace: it never exits")
        }
        let pidfd = try? PIDFD(pid: pid)
        let found = try system("/proc") { () throws(Errno) in
            try ProcessIdentity.find(pid: pid)
        }
        guard found == process, !hasExited(pidfd) else { throw .noSuchProcess("process \(pid) has exited") }
        let file = SessionFile(kind: .enrolled, process: process, isOwning: true)
        try system("its session file") { () throws(Errno) in
            try sessions.enrol(file, mode: mode)
        }
        if hasExited(pidfd) {
            try? sessions.remove(file.name)
            throw .noSuchProcess("process \(pid) has exited")
        }
    }

    private func hasExited(_ pidfd: borrowing PIDFD?) -> Bool {
        switch pidfd {
        case .some(let pidfd): pidfd.hasExited
        case .none: process.life == .dead
        }
    }
}

extension SpaceError {
    /// The error for a process that can't be an owner.
    static func noSuchProcess(_ reason: String) -> SpaceError {
        SpaceError(.noSuchProcess, reason: reason, advice: "name a process that lives as long as the namespace is to")
    }
}
