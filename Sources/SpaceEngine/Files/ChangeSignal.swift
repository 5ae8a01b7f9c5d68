import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// The bell, as a writer rings it: one byte into a file that inotify watches.
///
/// Rung after the commit, and only if somebody awaits it: who has something left to read needs no bell, and a burst of writes
/// rings once. Whoever reads the journal after the ring sees the commit. Opened at the first ring, and kept; a ring that fails
/// costs the watchers one tick, and the next tries anew.
package final class ChangeSignal: Sendable {
    private let file = Mutex<CInt?>(nil)

    deinit {
        if let descriptor = file.withLock({ $0 }) { close(descriptor) }
    }

    /// Rings; `folder` opens the namespace's folder for the first ring.
    func ring(in folder: () -> NamespaceFolder?) {
        let descriptor = file.withLock { file in
            if file == nil { file = Self.open(in: folder) }
            return file
        }
        guard let descriptor else { return }
        try? FileBytes.write([1], to: descriptor)
    }

    private static func open(in folder: () -> NamespaceFolder?) -> CInt? {
        guard let folder = folder(),
            let bell = try? folder.files.open(NamespaceFolder.bell, flags: O_WRONLY)
        else { return nil }
        return bell.release()
    }
}
