import Glibc
package import SpaceSystem
import SystemPackage

extension NamespaceCore {
    /// Whether a session lives.
    ///
    /// If this can't be determined (no descriptor is left, for example), the session counts as alive, because a
    /// living session's claims must not be taken from it.
    package func isAlive(session number: UInt64) -> Bool {
        if number == session.number { return true }
        do throws(Errno) {
            guard try control.isLocked(session: number) else { return false }
        } catch {
            return true
        }
        // The lock is held by the process, or by a child that the dead process forked; the session's file says which
        // process it is. If there is no file, a clean-up has removed it, and the session writes a new one.
        return sight(session: number)?.isAlive ?? true
    }

    /// The process whose session it is, if that can be told.
    package func process(ofSession number: UInt64) -> ProcessIdentity? { sight(session: number)?.record?.process }

    private func sight(session number: UInt64) -> SessionFolder.Sighting? {
        guard let folder = try? engine.openFolder(),
            let sessions = try? SessionFolder(in: folder.descriptor)
        else { return nil }
        return (try? sessions.look(at: String(number))) ?? nil
    }

    /// Writes this process's session file again if it was missing at two ticks in a row.
    func restoreSession() {
        let path = "\(root.path)/\(name.encoded)/\(SessionFolder.name)/\(session.name)"
        let isMissing: Bool
        do throws(Errno) {
            _ = try Directory.info(at: AT_FDCWD, path)
            isMissing = false
        } catch {
            isMissing = error == .noSuchFileOrDirectory
        }
        // After a failure (a full disk, for example) the next tick tries again; until then the lock shows that the
        // session lives.
        guard session.note(isMissing: isMissing), let folder = (try? engine.openFolder()) ?? nil,
            let sessions = try? folder.sessions(makingAnew: true)
        else { return }
        try? session.restore(in: sessions, mode: folder.fileMode)
    }
}
