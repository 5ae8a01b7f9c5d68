import SpaceSystem
import Synchronization
import SystemPackage

/// Deletes namespaces as their last owners exit: what `space reap --follow` runs.
///
/// Every opener and lister reaps too, so nothing depends on a reaper; with one, a namespace is gone within milliseconds
/// of its last owner's death. The kernel tells: a pidfd for each owner becomes readable at its exit, inotify tells of new
/// namespaces and of owners that come and go, and once a second everything is looked at all the same (an owner that calls exec
/// loses its lock and tells nobody; inotify's queue can overflow; descriptors can run out).
public final class Reaper: Sendable {
    private static let interval = Duration.seconds(1)
    private static let operation = "follow the namespaces' owners"

    private let space: Space
    private let wakeUp: EventFD
    private let isStopped = Atomic<Bool>(false)

    /// Prepares to follow; nothing is deleted before ``run(onDeleted:)``.
    public init(space: Space) throws(SpaceError) {
        self.space = space
        wakeUp = try system(Self.operation, "an event descriptor") { () throws(Errno) in try EventFD() }
    }

    /// Makes ``run(onDeleted:)`` return.
    ///
    /// May be called from any thread, and before it.
    public func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        try? wakeUp.signal()
    }

    /// Deletes what nobody owns, now and as owners exit, until ``stop()``.
    ///
    /// Blocks the thread. Cancelling a task that it runs in does nothing.
    ///
    /// - Parameter onDeleted: Called with the name of each namespace deleted, on the same thread.
    /// - Throws: `descriptorsExhausted`, `permissionDenied`, `inputOutput`.
    public func run(onDeleted: (String) -> Void) throws(SpaceError) {
        let watch = try Watch(wakeUp, Self.operation)
        var changed: Set<NamespaceName>?
        // By the clock: neither signals nor a stream of events puts the look at everything off.
        var nextRound = MonotonicInstant.now
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            if let changed, !nextRound.hasPassed {
                for name in changed {
                    watch.follow(name, of: space)
                    if space.reap(name) { onDeleted(name.text) }
                }
            } else {
                nextRound = .now.advanced(by: Self.interval)
                // Watches first, then the look: what changes in between rings.
                watch.followEverything(space)
                // An error (no descriptors left, say) is no end: a second later everything is looked at again.
                for name in (try? space.reap()) ?? [] { onDeleted(name) }
            }
            changed = try watch.wait(atMost: nextRound.remaining, Self.operation)
        }
    }

    /// What the reaper listens to: the root, each namespace's sessions, each owner's exit.
    private final class Watch {
        private static let wakeToken: UInt64 = 0
        private static let notifyToken: UInt64 = 1
        private static let pidTokens: UInt64 = 2

        private let epoll: Epoll
        /// `nil` where the user's instances are used up, or inotify is refused: then all is looked at each second.
        private let notify: Notifier?
        private let wakeUp: CInt
        private var owners: [UInt64: Owner] = [:]
        private var tokens: [ProcessIdentity: UInt64] = [:]
        private var nextToken = pidTokens
        private var names: [Int32: NamespaceName] = [:]
        private var rootWatch: Int32 = -1

        /// An owner whose exit is in the set, and what it owns.
        private final class Owner {
            let process: ProcessIdentity
            let pidfd: PIDFD
            var names: Set<NamespaceName> = []

            init(_ process: ProcessIdentity, _ pidfd: consuming PIDFD) {
                self.process = process
                self.pidfd = pidfd
            }
        }

        private final class Notifier {
            let notify: INotify
            init?() {
                guard let notify = try? INotify() else { return nil }
                self.notify = notify
            }
        }

        init(_ wakeUp: borrowing EventFD, _ operation: String) throws(SpaceError) {
            self.wakeUp = wakeUp.raw
            do throws(Errno) {
                epoll = try Epoll()
                notify = Notifier()
                try epoll.add(wakeUp.raw, .readable, token: Self.wakeToken)
                if let notify { try epoll.add(notify.notify.raw, .readable, token: Self.notifyToken) }
            } catch {
                throw SpaceError(error, operation, subject: "waiting for events")
            }
        }

        private static let changes: INotify.Mask = [.created, .movedTo, .movedFrom, .deleted, .modified]

        /// Watches the root and its namespaces, and the exits of their owners.
        ///
        /// What can't be watched is looked at each
        /// second.
        func followEverything(_ space: Space) {
            rootWatch = (try? notify?.notify.add(space.root, Self.changes)) ?? -1
            guard let root = try? space.folder.open(create: false, for: Reaper.operation) else { return }
            for entry in (try? Directory.list(root.raw)) ?? [] {
                if let name = NamespaceName(folder: entry) { follow(name, in: root, of: space) }
            }
        }

        func follow(_ name: NamespaceName, of space: Space) {
            guard let root = try? space.folder.open(create: false, for: Reaper.operation) else { return }
            follow(name, in: root, of: space)
        }

        private func follow(_ name: NamespaceName, in root: borrowing OwnedDescriptor, of space: Space) {
            guard let folder = try? NamespaceFolder.open(name, in: root, of: space.folder, for: Reaper.operation) else {
                return
            }
            if let watch = try? notify?.notify.add("\(folder.descriptor.procPath)/\(SessionFolder.name)", Self.changes)
            {
                names[watch] = name
            }
            for sighting in (try? folder.sightings(Reaper.operation)) ?? [] where sighting.isAlive {
                if let record = sighting.record, record.isOwning { follow(record.process, owning: name) }
            }
        }

        private func follow(_ process: ProcessIdentity, owning name: NamespaceName) {
            if let token = tokens[process] {
                owners[token]?.names.insert(name)
                return
            }
            guard let pidfd = try? PIDFD(pid: process.pid) else { return }
            let token = nextToken
            guard (try? epoll.add(pidfd.raw, .readable, token: token)) != nil else { return }
            nextToken += 1
            let owner = Owner(process, pidfd)
            owner.names = [name]
            owners[token] = owner
            tokens[process] = token
        }

        /// - Returns: Which namespaces may have lost an owner; `nil`: look at all.
        func wait(atMost limit: Duration, _ operation: String) throws(SpaceError) -> Set<NamespaceName>? {
            do throws(Errno) {
                let ready = try epoll.wait(timeout: limit)
                var changed: Set<NamespaceName> = []
                for event in ready {
                    if event.token == Self.notifyToken {
                        for notice in try notify?.notify.readEvents() ?? [] {
                            if notice.isOverflow { return nil }
                            if notice.mask.contains(.ignored) {
                                names[notice.watch] = nil
                            } else if notice.watch == rootWatch {
                                if let name = notice.name.flatMap({ NamespaceName(folder: $0) }) {
                                    changed.insert(name)
                                }
                            } else if let name = names[notice.watch] {
                                changed.insert(name)
                            }
                        }
                    } else if let owner = owners.removeValue(forKey: event.token) {
                        // Closing the descriptor takes it out of the set.
                        tokens[owner.process] = nil
                        changed.formUnion(owner.names)
                    }
                }
                return changed
            } catch {
                throw SpaceError(error, operation, subject: "waiting for events")
            }
        }
    }
}
