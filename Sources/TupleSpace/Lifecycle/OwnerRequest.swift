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
            let (number, record) = try Session.newRecord(
                control,
                in: sessions,
                mode: mode,
                mayLackFile: !isOwningSession && enrolled == nil
            ) { (number) throws(Errno) in
                SessionFile(kind: .session(number), process: try .current, isOwning: isOwningSession)
            }
            return Session(number: number, control: control, record: record)
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
