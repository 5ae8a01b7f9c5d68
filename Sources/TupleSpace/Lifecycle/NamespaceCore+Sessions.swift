import Glibc
import SpaceSystem
import SystemPackage

extension NamespaceCore {
    /// Whether a session lives.
    ///
    /// When that can't be told (no descriptors left, say) it does: the living must not be robbed.
    package func isAlive(session number: UInt64) -> Bool {
        if number == session.number { return true }
        do throws(Errno) {
            guard try control.isLocked(session: number) else { return false }
        } catch {
            return true
        }
        // Held by the process, or by a child that the dead process has forked: the file says whose it is. Where there is none, a
        // clean-up has removed it, and the session writes a new one.
        guard let folder = try? engine.openFolder("look at a session"),
            let sessions = try? SessionFolder(in: folder.descriptor),
            let sighting = try? sessions.look(at: String(number))
        else { return true }
        return sighting.isAlive
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
        let operation = "write the session's file anew"
        // A failure (a full disk, say) leaves it to the next tick: the lock shows that the session lives.
        guard session.note(isMissing: isMissing), let folder = (try? engine.openFolder(operation)) ?? nil,
            let sessions = try? folder.sessions(operation, makingAnew: true)
        else { return }
        try? session.restore(in: sessions, mode: folder.fileMode)
    }
}
