import Glibc
import SpaceSystem
import SystemPackage

/// The upkeep of a namespace in which this process waits or watches.
///
/// A tick (250 ms) is the latest moment at which other processes find what a killed process left undone. One process
/// ticks for all (`TickerSeat`): it repairs what it can, and nudges all waiters and watchers if there was a commit
/// since its last tick, so that each looks for what it may have missed. One other process, the deputy, looks once a
/// second whether the ticker is stopped. Every process does its own part: once a second if it watches or has tasks that
/// wait, more seldom if it only has threads that wait (`restInterval`), and when it is nudged.
package struct Upkeep {
    let core: NamespaceCore

    /// Writes this process's session file again if it was missing at two ticks in a row.
    func restoreSession() {
        let path = "\(core.root.path)/\(core.name.encoded)/\(SessionFolder.name)/\(core.session.name)"
        let isMissing: Bool
        do throws(Errno) {
            _ = try Directory.info(at: AT_FDCWD, path)
            isMissing = false
        } catch {
            isMissing = error == .noSuchFileOrDirectory
        }
        // After a failure (a full disk, for example) the next tick tries again; until then the lock shows that the
        // session lives.
        guard core.session.note(isMissing: isMissing), let folder = (try? core.engine.openFolder()) ?? nil,
            let sessions = try? folder.sessions(makingAnew: true)
        else { return }
        try? core.session.restore(in: sessions, mode: folder.fileMode)
    }
}

extension NamespaceCore {
    /// The upkeep of the namespace.
    package var upkeep: Upkeep { Upkeep(core: self) }
}
