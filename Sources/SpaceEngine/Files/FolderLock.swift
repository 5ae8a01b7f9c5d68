import SpaceSystem
import Synchronization

/// A shared flock(2) on a namespace's folder, which a process holds while it has the namespace open.
///
/// systemd-tmpfiles(8) cleans /tmp and /var/tmp by age. Before it looks into a folder there, it takes an exclusive flock(2)
/// on it without waiting, and leaves out a folder whose lock it can't take, with all that is in it (tmpfiles.d(5), "Age").
/// Without this lock it would remove the files of a namespace in use one by one, because a mapped file's times do not
/// change. The kernel releases the lock when the process ends, however it ends.
///
/// The lock costs one descriptor. In /dev/shm, which nothing cleans by age, it is left out; and if it can't be acquired, because
/// no descriptor is left or another program has the folder locked, the namespace is used without it.
package final class FolderLock: Sendable {
    /// A cleaner that has the folder locked has soon looked through it.
    private static let patience = Duration.milliseconds(100)

    private let descriptor: Mutex<OwnedDescriptor?>

    /// Locks the folder of a namespace that is being opened; `nil` if that is not needed or can't be done.
    package init?(_ folder: borrowing NamespaceFolder) {
        guard !folder.root.path.hasPrefix("/dev/shm/"),
            let kept = try? OwnedDescriptor.duplicate(of: folder.descriptor.raw)
        else { return nil }
        let retry = Retry(for: Self.patience, every: .milliseconds(5))
        while true {
            guard let isLocked = try? FileLock.trySharedWhole(kept.raw) else { return nil }
            if isLocked { break }
            guard retry.again() else { return nil }
        }
        descriptor = Mutex(kept)
    }

    /// Releases the lock; not to be called in a child made by fork, which shares it with its parent.
    package func release() {
        descriptor.withLock { kept in
            // A child made by fork has the open file too, so it is not enough to close it.
            if let raw = kept?.raw { FileLock.unlockWhole(raw) }
            kept = nil
        }
    }
}
