package import SpaceSystem
import SystemPackage

/// Who is to own a namespace through an opening: this process's session, another process, or nobody.
package struct OwnerRequest: Sendable {
    /// Whether this process's session keeps the namespace alive.
    package var isOwningSession: Bool
    /// Another process that does.
    package var enrolled: ProcessIdentity?

    package static let session = OwnerRequest(isOwningSession: true, enrolled: nil)
    package static let nobody = OwnerRequest(isOwningSession: false, enrolled: nil)

    package static func process(_ process: ProcessIdentity) -> OwnerRequest {
        OwnerRequest(isOwningSession: false, enrolled: process)
    }

    func checkMayCreate(persistent: Bool, _ name: String) throws(SpaceError) {
        guard !isOwningSession, enrolled == nil, !persistent else { return }
        throw SpaceError(
            .noOwner,
            "create the namespace",
            namespace: name,
            reason: "nobody would own it, and it would be deleted at once",
            advice: "name an owner, or create it persistent"
        )
    }

    /// Makes this process's session file, and the enrolled process's.
    ///
    /// Under the door, or in the nursery.
    func makeSession(
        in sessions: borrowing SessionFolder,
        _ control: ControlFile,
        mode: UInt32,
        _ name: String
    ) throws(SpaceError) -> Session {
        let session = try system(Opening.operation, "its session file", namespace: name) { () throws(Errno) in
            while true {
                let number = control.nextSession.add(1)
                guard (1..<ControlFile.sessionLimit).contains(number) else {
                    // Damage: no counting comes there. 0 means nobody. What is taken already is passed over below.
                    control.nextSession.store(1)
                    continue
                }
                let record = SessionFile(
                    kind: .session(number),
                    process: try ProcessIdentity.current,
                    isOwning: isOwningSession
                )
                // The lock first: a file whose lock is not held is a dead session's.
                guard try control.lock(session: number) else { continue }
                do throws(Errno) {
                    try sessions.create(record, mode: mode)
                    return Session(number: number, control: control, record: record)
                } catch .fileExists {
                    // A number from before the control file was made anew.
                    control.unlock(session: number)
                    continue
                } catch  where error.isOfFullDisk && !isOwningSession && enrolled == nil {
                    // Not even an inode is left. Who only looks needs none: its lock says that it lives.
                    return Session(number: number, control: control, record: record)
                }
            }
        }
        if let enrolled {
            do throws(SpaceError) {
                try Enrolment(process: enrolled, namespace: name).run(in: sessions, mode: mode)
            } catch {
                try? session.end(in: sessions)
                throw error
            }
        }
        return session
    }
}

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
