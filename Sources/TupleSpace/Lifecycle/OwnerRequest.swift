package import SpaceSystem
import SystemPackage

/// The owner that an opening gives a namespace: this process's session, another process, or none.
package struct OwnerRequest: Sendable {
    /// Whether this process's session keeps the namespace alive.
    package var isOwningSession: Bool
    /// Another process that keeps the namespace alive.
    package var enrolled: ProcessIdentity?

    package static let session = OwnerRequest(isOwningSession: true, enrolled: nil)
    package static let nobody = OwnerRequest(isOwningSession: false, enrolled: nil)

    package static func process(_ process: ProcessIdentity) -> OwnerRequest {
        OwnerRequest(isOwningSession: false, enrolled: process)
    }

    func checkMayCreate(persistent: Bool) throws(SpaceError) {
        guard !isOwningSession, enrolled == nil, !persistent else { return }
        throw SpaceError(
            .noOwner,
            reason: "nobody would own it, and it would be deleted at once",
            advice: "name an owner, or create it persistent"
        )
    }

    /// Makes the session file of this process, and that of the enrolled process.
    ///
    /// Called under the door, or in the nursery.
    func makeSession(
        in sessions: borrowing SessionFolder,
        _ control: ControlFile,
        mode: UInt32
    ) throws(SpaceError) -> Session {
        let session = try system("its session file") { () throws(Errno) in
            while true {
                let number = control.nextSession.add(1)
                guard (1..<ControlFile.sessionLimit).contains(number) else {
                    // The counter is damaged: no count gets this far, and 0 stands for no session. Numbers in use are
                    // skipped below.
                    control.nextSession.store(1)
                    continue
                }
                let record = SessionFile(
                    kind: .session(number),
                    process: try ProcessIdentity.current,
                    isOwning: isOwningSession
                )
                // The lock is taken first: a file whose lock is not held belongs to a dead session.
                guard try control.lock(session: number) else { continue }
                do throws(Errno) {
                    try sessions.create(record, mode: mode)
                    return Session(number: number, control: control, record: record)
                } catch .fileExists {
                    // The number is from before the control file was made anew.
                    control.unlock(session: number)
                    continue
                } catch  where error.isOfFullDisk && !isOwningSession && enrolled == nil {
                    // The disk has no inode left. A session that does not own needs no file: its lock shows that it
                    // lives.
                    return Session(number: number, control: control, record: record)
                }
            }
        }
        if let enrolled {
            do throws(SpaceError) {
                try Enrolment(process: enrolled).run(in: sessions, mode: mode)
            } catch {
                try? session.end(in: sessions)
                throw error
            }
        }
        return session
    }
}
