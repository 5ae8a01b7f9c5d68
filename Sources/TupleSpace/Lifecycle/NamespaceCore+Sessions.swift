import Glibc
import SpaceSystem
import SystemPackage

extension NamespaceCore {
    /// The namespace's folder, if the path still leads to it.
    func openFolder(_ operation: String) throws(SpaceError) -> NamespaceFolder? {
        guard let rootFolder = try root.open(create: false, for: operation),
            let folder = try NamespaceFolder.open(name, in: rootFolder, of: root, for: operation),
            folder.id == NamespaceFolder.ID(device: self.folder.device, inode: self.folder.inode)
        else { return nil }
        return folder
    }

    /// The control file, opened anew, if the path still leads to the namespace.
    func openControl() -> OwnedDescriptor? {
        let operation = "look at a lock"
        guard let folder = try? openFolder(operation) else { return nil }
        return try? folder.openControl(operation)
    }

    /// Whether a session lives.
    ///
    /// When that can't be told (no descriptors left, say) it does: the living must not be robbed.
    func isAlive(session number: UInt64) -> Bool {
        if number == session.number { return true }
        do throws(Errno) {
            guard try control.isLocked(session: number) else { return false }
        } catch {
            return true
        }
        // Held by the process, or by a child that the dead process has forked: the file says whose it is. Where there is none, a
        // clean-up has removed it, and the session writes a new one.
        guard let folder = try? openFolder("look at a session"),
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
        guard session.note(isMissing: isMissing), let folder = (try? openFolder(operation)) ?? nil,
            let sessions = try? folder.sessions(operation, makingAnew: true)
        else { return }
        try? session.restore(in: sessions, mode: folder.fileMode)
    }
}
