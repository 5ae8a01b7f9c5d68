import Glibc
import SpaceEngine
import SpaceMachines
import SpaceSystem
import SystemPackage

/// Marks of the namespaces that this machine is making replicated, in the folder `.cluster`.
///
/// A replica whose life the store does not have was either deleted on all machines, or was never published because its
/// daemon was killed in between. The mark tells the second case. It is on the disk before the namespace becomes a
/// replica, and goes when the store has its life.
struct FoundingMarks: Sendable {
    let root: String

    private func folder() throws(Errno) -> OwnedDescriptor {
        try OwnedDescriptor.open("\(root)/\(ClusterFolder.name)", flags: O_RDONLY | O_DIRECTORY)
    }

    func add(_ name: NamespaceName) throws(SpaceError) {
        try system("the mark of a namespace that becomes replicated") { () throws(Errno) in
            let folder = try folder()
            let file = try OwnedDescriptor.openat(
                directory: folder.raw,
                DaemonSocket.mark(of: name),
                flags: O_WRONLY | O_CREAT | O_NOFOLLOW,
                mode: 0o600
            )
            try Directory.sync(file.raw)
            try Directory.sync(folder.raw)
        }
    }

    func remove(_ name: NamespaceName) {
        guard let folder = try? folder() else { return }
        _ = try? Directory.unlink(at: folder.raw, DaemonSocket.mark(of: name))
    }

    func contains(_ name: NamespaceName) throws(SpaceError) -> Bool {
        try system("the mark of a namespace that becomes replicated") { () throws(Errno) in
            let folder = try folder()
            do throws(Errno) {
                _ = try Directory.info(at: folder.raw, DaemonSocket.mark(of: name))
                return true
            } catch .noSuchFileOrDirectory { return false }
        }
    }
}
