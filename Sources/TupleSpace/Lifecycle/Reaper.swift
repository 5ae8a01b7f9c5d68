import SpaceSystem
import Synchronization

/// Deletes namespaces as their last owners exit; `space reap --follow` runs one.
///
/// Every opener and lister reaps too, so nothing depends on a reaper. With one, a namespace is gone within
/// milliseconds of its last owner's death. The kernel reports the events: a pidfd for each owner becomes readable at
/// its exit, and inotify reports new namespaces and owners that come and go. In addition, everything is checked once
/// a second: an owner that calls exec loses its lock without an event, inotify's queue can overflow, and descriptors
/// can run out.
public final class Reaper: Sendable {
    private static let interval = Duration.seconds(1)

    private let space: Space
    private let news = News()
    private let root: PathWatch
    private let isStopped = Atomic<Bool>(false)

    /// Prepares to follow; nothing is deleted before ``run(onFailure:onDeleted:)``.
    public init(space: Space) {
        self.space = space
        root = PathWatch(space.root) { [news] cause in
            guard case .change(let event) = cause else { return }
            if event.isOverflow {
                news.noteAll()
            } else if let name = event.name.flatMap({ NamespaceName(folder: $0) }) {
                news.note(name)
            }
        }
    }

    /// Makes ``run(onFailure:onDeleted:)`` return.
    ///
    /// May be called from any thread, even before ``run(onFailure:onDeleted:)``.
    public func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        root.ring()
    }

    /// Deletes namespaces without owners, now and as owners exit, until ``stop()``, or until the process is told to end.
    ///
    /// Blocks the thread. Cancelling a task that it runs in does nothing. If the process can't hear of an event, for
    /// example because it has no free descriptor, the reaper finds the change when it checks everything, once a second.
    ///
    /// - Parameters:
    ///   - onFailure: Called when the check of everything failed, or did not reach all namespaces.
    ///   - onDeleted: Called with the name of each namespace as soon as it is deleted, on the same thread.
    public func run(onFailure: (SpaceError) -> Void = { _ in }, onDeleted: (String) -> Void) {
        var owners = Owners(space, news, root)
        // The clock decides: neither system signals nor a stream of events delays the look at everything.
        var nextRound = MonotonicInstant.now
        while true {
            let count = root.count
            if isToEnd { return }
            let changed = news.take()
            if let changed, !nextRound.hasPassed {
                for name in changed where !isToEnd {
                    owners.follow(name)
                    if space.reap(name) { onDeleted(name.text) }
                }
            } else {
                nextRound = .now.advanced(by: Self.interval)
                // Watches are made before the look, so that every change in between is an event.
                owners.followEverything()
                // An error (no descriptor is left, for example) does not end the loop: everything is checked again a
                // second later.
                do throws(SpaceError) {
                    let survey = try space.survey(until: { isToEnd }, onDeleted: onDeleted)
                    if let shortage = survey.shortage { onFailure(shortage) }
                } catch  where !isToEnd {
                    onFailure(error)
                } catch {}
            }
            root.wait(since: count, until: nextRound, interruption: .ofProcess)
        }
    }

    private var isToEnd: Bool {
        isStopped.load(ordering: .sequentiallyConsistent) || Interruption.ofProcess.isTriggered
    }

    /// The namespaces that may have lost an owner.
    private final class News: Sendable {
        /// `nil`: all may have.
        private let names = Mutex<Set<NamespaceName>?>([])

        func note(_ name: NamespaceName) { names.withLock { _ = $0?.insert(name) } }
        func noteAll() { names.withLock { $0 = nil } }

        /// - Returns: What was noted since the last call; `nil` for all namespaces.
        func take() -> Set<NamespaceName>? {
            names.withLock { names in
                defer { names = [] }
                return names
            }
        }
    }

    /// The owners that are followed: each namespace's sessions, and each owner's exit.
    private struct Owners {
        private static let changes: INotify.Mask = [
            .created, .movedTo, .movedFrom, .deleted, .modified, .noFollow, .onlyDirectory,
        ]

        private let space: Space
        private let news: News
        private let root: PathWatch
        private var sessions: [NamespaceName: PathWatch] = [:]

        init(_ space: Space, _ news: News, _ root: PathWatch) {
            (self.space, self.news, self.root) = (space, news, root)
        }

        /// Watches the root and its namespaces, and the exits of their owners.
        ///
        /// Whatever can't be watched is checked each second.
        mutating func followEverything() {
            root.renew()
            guard let folder = try? space.spaceRoot.open(create: false), let entries = try? Directory.list(folder.raw)
            else { return }
            let names = Set(entries.compactMap { NamespaceName(folder: $0) })
            sessions = sessions.filter { names.contains($0.key) }
            for name in names { follow(name) }
        }

        mutating func follow(_ name: NamespaceName) {
            guard let root = try? space.spaceRoot.open(create: false) else { return }
            let folder: NamespaceFolder
            do throws(SpaceError) {
                guard let found = try NamespaceFolder.open(name, in: root, of: space.spaceRoot) else {
                    sessions[name] = nil
                    return
                }
                folder = found
            } catch {
                return
            }
            let watch = watch(name)
            for sighting in (try? folder.sightings()) ?? [] where sighting.isAlive {
                if let record = sighting.record, record.isOwning { watch.follow(record.process) }
            }
        }

        /// The watch of a namespace's sessions.
        private mutating func watch(_ name: NamespaceName) -> PathWatch {
            if let known = sessions[name] {
                known.renew()
                return known
            }
            let path = "\(space.root)/\(name.encoded)/\(SessionFolder.name)"
            let watch = PathWatch(path, Self.changes) { [news, root] cause in
                switch cause {
                case .tick: return
                case .change(let event) where event.isOverflow: news.noteAll()
                case .change, .exit: news.note(name)
                }
                root.ring()
            }
            sessions[name] = watch
            return watch
        }
    }
}
