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

    /// Whether a session lives.
    ///
    /// When that can't be told (no descriptors left, say) it does: the living must not be robbed.
    func isAlive(session number: UInt64) -> Bool {
        guard let folder = try? openFolder("look at a session"),
            let sessions = try? SessionFolder(in: folder.descriptor)
        else { return true }
        do throws(Errno) {
            // No file: it has left, or its death was noticed.
            guard let sighting = try sessions.look(at: String(number)) else { return false }
            return sighting.isAlive
        } catch {
            return true
        }
    }
}
