import Glibc
import SpaceSystem
import Synchronization

/// The namespaces that this process has open, by the identity of their folders.
///
/// Guarantees that a process has one session in a namespace, however many handles it has. If a thread still reads in
/// a namespace that was left, the environment stays open until that thread is out; an opener in between gets a new
/// session, and uses the same environment (see ``OpenEnvironment``).
package final class CoreRegistry: Sendable {
    package static let shared = CoreRegistry()

    private let entries = Mutex(Entries())

    private struct Entries {
        var all: [NamespaceFolder.ID: Entry] = [:]
        /// How many there may be before those without use are removed.
        var most = 64

        /// Removes the entries of namespaces that this process no longer has open.
        ///
        /// An entry that only the registry refers to is not in use, and no thread can begin to use it now, because the
        /// registry is locked.
        mutating func removeUnused() {
            for id in Array(all.keys) {
                guard let index = all.index(forKey: id), isKnownUniquelyReferenced(&all.values[index]) else { continue }
                if all.values[index].isUnused { all[id] = nil }
            }
            most = max(64, 2 * all.count)
        }
    }

    /// The number of entries, for tests.
    package var count: Int { entries.withLock { $0.all.count } }
    private let forkGeneration = ForkGuard.generation

    /// The state of one folder.
    ///
    /// Its lock is held while this process opens or leaves the namespace.
    package final class Entry: Sendable {
        package struct State {
            var core: NamespaceCore?
            var owningHandles = 0
            var handles = 0
        }

        let state = Mutex(State())

        /// Whether the namespace is not open; no thread has the entry's lock.
        fileprivate var isUnused: Bool { state.withLockIfAvailable { $0.core == nil } ?? false }

        /// Runs `body` under the entry's lock.
        ///
        /// Within a transaction's body it waits for another thread for at most a tick: that thread may hold the lock
        /// while it waits for this transaction to end.
        ///
        /// - Throws: `invalidArgument` after that tick.
        func withState<R>(
            _ body: (inout State) throws(SpaceError) -> R
        ) throws(SpaceError) -> R {
            guard BodyThread.isInAnyNamespace else {
                return try state.withLock { (state) throws(SpaceError) in try body(&state) }
            }
            let retry = Retry(for: Limits.tick, every: .milliseconds(1))
            while true {
                let result = try state.withLockIfAvailable { (state) throws(SpaceError) in try body(&state) }
                if let result { return result }
                guard retry.again() else { throw .waitingWithinTransaction }
            }
        }
    }

    package func entry(_ id: NamespaceFolder.ID) -> Entry {
        entries.withLock { entries in
            if let entry = entries.all[id] { return entry }
            if entries.all.count >= entries.most { entries.removeUnused() }
            let entry = Entry()
            entries.all[id] = entry
            return entry
        }
    }

    private init() {
        // Swift's globals are never deinitialised, so without this an exit would leave every session to the reaper.
        atexit { CoreRegistry.shared.leaveAll() }
    }

    /// Leaves, at exit, every namespace that a handle still has open.
    private func leaveAll() {
        // A child made by fork must not end its parent's sessions, and its parent's other threads may have held the
        // locks.
        guard ForkGuard.generation == forkGeneration else { return }
        for entry in entries.withLock({ Array($0.all.values) }) {
            guard let core = entry.state.withLockIfAvailable({ $0.core }) ?? nil else { continue }
            try? core.leave(timeout: .seconds(1), isExiting: true)
        }
    }
}
