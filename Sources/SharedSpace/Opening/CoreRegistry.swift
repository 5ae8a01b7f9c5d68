import Glibc
import LMDB
import SpaceSystem
import Synchronization

/// What this process has open, by the identity of the folder.
///
/// Guarantees that an LMDB environment is open once in a process (a second open, and even a plain close of `lock.mdb`, breaks
/// the locks of the first), and that a process has one session in a namespace whatever the number of handles. A
/// namespace that was left while a thread still waits in it keeps its environment until that thread is out; an opener in
/// between uses the same environment under a new session.
final class CoreRegistry: Sendable {
    static let shared = CoreRegistry()

    private let entries = Mutex<[NamespaceFolder.ID: Entry]>([:])

    /// One folder.
    ///
    /// Its lock is held while this process opens or leaves the namespace.
    final class Entry: Sendable {
        struct State {
            var core: NamespaceCore?
            var owningHandles = 0
            var handles = 0
            /// What a core that was left may still hold open.
            weak var environment: Environment?
            var tables: Tables?
        }

        let state = Mutex(State())
    }

    func entry(_ id: NamespaceFolder.ID) -> Entry {
        entries.withLock { entries in
            if let entry = entries[id] { return entry }
            let entry = Entry()
            entries[id] = entry
            return entry
        }
    }

    private init() {
        // Swift's globals are never deinitialised, so an exit would leave every session to the reaper.
        atexit { CoreRegistry.shared.leaveAll() }
    }

    /// At exit: leaves every namespace that a handle is still open on.
    private func leaveAll() {
        for entry in entries.withLock({ Array($0.values) }) {
            guard let core = entry.state.withLockIfAvailable({ $0.core }) ?? nil else { continue }
            // A child made by fork must not end its parent's session.
            guard (try? core.checkUsable("exit")) != nil else { continue }
            try? core.leave(timeout: .seconds(1))
        }
    }
}
