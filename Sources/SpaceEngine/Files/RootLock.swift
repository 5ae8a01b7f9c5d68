import Glibc
import SpaceSystem
import Synchronization

/// A flock(2) on a root's folder, which this process holds as long as it has a namespace of the root open.
///
/// systemd-tmpfiles(8) takes such a lock on each folder that it cleans by age, and leaves a locked one alone with all below
/// it (tmpfiles.d(5), "Age"): else it would remove, file by file, what lies in /var/tmp and is not written for a month. The
/// lock is shared, so processes don't exclude each other, and a process holds it once for each root. Without a free
/// descriptor it is left out.
package final class RootLock: Sendable {
    private struct Known {
        weak var lock: RootLock?
    }

    private static let locks = Mutex<[NamespaceFolder.ID: Known]>([:])

    private let descriptor: OwnedDescriptor

    private init(_ descriptor: consuming OwnedDescriptor) { self.descriptor = descriptor }

    /// The lock on the folder at a root's path; `nil` if there can be none.
    package static func hold(_ root: SpaceRoot) -> RootLock? {
        guard let folder = try? root.open(create: false), let info = try? FileInfo.of(folder.raw) else { return nil }
        let id = NamespaceFolder.ID(device: info.device, inode: info.inode)
        if let lock = locks.withLock({ $0[id]?.lock }) { return lock }
        guard flock(folder.raw, LOCK_SH | LOCK_NB) == 0 else { return nil }
        let lock = RootLock(folder)
        locks.withLock { locks in
            locks = locks.filter { $0.value.lock != nil }
            locks[id] = Known(lock: lock)
        }
        return lock
    }
}
