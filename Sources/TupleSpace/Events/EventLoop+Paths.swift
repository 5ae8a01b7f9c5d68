package import SpaceSystem
import Synchronization

// Folders and files that inotify watches for waiters, and processes whose ends such a waiter follows.

extension EventLoop {
    /// Has inotify watch a folder or file for a waiter; if that fails, the tick takes its place.
    ///
    /// Returns the watch, which all waiters for that path share; so all of them wait for the same changes.
    package func begin(_ signal: PathSignal, path: String, _ changes: INotify.Mask = PathSignals.mask) -> Int32? {
        defer {
            state.withLock { state in
                state.rootsDue = min(state.rootsDue, .now.advanced(by: Ticking.interval))
                hasten(state.rootsDue, &state)
            }
            _ = handlers.start(self)
        }
        return notifier.withLock { notifier in
            makeIfNeeded(&notifier)
            let watch = try? notifier?.notify.add(path, changes)
            // Done under this lock: otherwise another waiter that ends at the same time could remove the watch.
            roots.begin(signal, watch: watch)
            return watch
        }
    }

    /// Makes inotify watch the folder or file that is at the path now, if it watches another one; returns the watch.
    package func renew(_ signal: PathSignal, watch: Int32?, path: String, _ changes: INotify.Mask) -> Int32? {
        notifier.withLock { notifier in
            makeIfNeeded(&notifier)
            // For the same file or folder, the watch is the same.
            let now = try? notifier?.notify.add(path, changes)
            if now == watch, now.map({ roots.isHeard(signal, watch: $0) }) ?? true { return watch }
            if let unused = roots.end(signal, watch: watch) { try? notifier?.notify.remove(unused) }
            roots.begin(signal, watch: now)
            return now
        }
    }

    package static func end(_ signal: PathSignal, watch: Int32?) {
        guard let loop = existing else { return }
        loop.notifier.withLock { notifier in
            if let unused = loop.roots.end(signal, watch: watch) { try? notifier?.notify.remove(unused) }
        }
    }

    /// Whether inotify watches for a signal.
    package static func isHeard(_ signal: PathSignal, watch: Int32) -> Bool {
        existing?.roots.isHeard(signal, watch: watch) ?? false
    }

    /// Rings a signal when a process ends; does nothing if the process has already ended, or if hardly any descriptor
    /// is left.
    func follow(_ process: ProcessIdentity, for signal: PathSignal) {
        _ = exits.follow(process, for: ObjectIdentifier(signal), sparing: Self.spareDescriptors) {
            handlers.listen(to: $0, token: $1)
        }
    }

    /// Wakes those who wait for a signal.
    func ring(_ signal: PathSignal) { signal.ring(.tick, sleepers) }

    static func forget(_ signal: PathSignal) {
        existing?.exits.forget(ObjectIdentifier(signal))
        existing?.sleepers.forget(ObjectIdentifier(signal))
    }
}
