import Glibc
import SpaceSystem
import Synchronization
import SystemPackage

/// The bell, as a writer rings it: one byte into a file that inotify watches.
///
/// Rung after the commit, and only if somebody awaits it: who has something left to read needs no bell, and a burst of writes
/// rings once. Whoever reads the journal after the ring sees the commit. Opened at the first ring, and kept; a ring that fails
/// costs the watchers one tick, and the next tries anew.
final class Bell: Sendable {
    private let file = Mutex<CInt?>(nil)

    deinit {
        if let descriptor = file.withLock({ $0 }) { close(descriptor) }
    }

    func ring(_ core: NamespaceCore) {
        let descriptor = file.withLock { file in
            if file == nil { file = Self.open(core) }
            return file
        }
        guard let descriptor else { return }
        try? FileBytes.write([1], to: descriptor)
    }

    private static func open(_ core: NamespaceCore) -> CInt? {
        guard let folder = (try? core.openFolder("ring the bell")) ?? nil,
            let bell = try? folder.files.open(NamespaceFolder.bell, flags: O_WRONLY)
        else { return nil }
        return bell.release()
    }
}
