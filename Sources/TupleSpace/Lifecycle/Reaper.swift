import SpaceSystem
import Synchronization
import SystemPackage

/// Deletes namespaces as their last owners exit; `space reap --follow` runs one.
///
/// Every opener and lister reaps too, so nothing depends on a reaper. With one, a namespace is gone within
/// milliseconds of its last owner's death. The kernel reports the events: a pidfd for each owner becomes readable at
/// its exit, and inotify reports new namespaces and owners that come and go. In addition, everything is checked once
/// a second: an owner that calls exec loses its lock without an event, inotify's queue can overflow, and descriptors
/// can run out.
public final class Reaper: Sendable {
    private static let interval = Duration.seconds(1)
    private static let operation = "follow the namespaces' owners"

    private let space: Space
    private let wakeUp: EventFD
    private let isStopped = Atomic<Bool>(false)

    /// Prepares to follow; nothing is deleted before ``run(onDeleted:)``.
    public init(space: Space) throws(SpaceError) {
        self.space = space
        wakeUp = try SpaceError.attempt(Self.operation, on: nil) { () throws(SpaceError) in
            try system("an event descriptor") { () throws(Errno) in try EventFD() }
        }
    }

    /// Makes ``run(onDeleted:)`` return.
    ///
    /// May be called from any thread, even before ``run(onDeleted:)``.
    public func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        try? wakeUp.signal()
    }

    /// Deletes namespaces without owners, now and as owners exit, until ``stop()``.
    ///
    /// Blocks the thread. Cancelling a task that it runs in does nothing.
    ///
    /// - Parameter onDeleted: Called with the name of each namespace deleted, on the same thread.
    /// - Throws: `descriptorsExhausted`, `permissionDenied`, `inputOutput`.
    public func run(onDeleted: (String) -> Void) throws(SpaceError) {
        try SpaceError.attempt(Self.operation, on: nil) { () throws(SpaceError) in
            try follow(onDeleted: onDeleted)
        }
    }

    private func follow(onDeleted: (String) -> Void) throws(SpaceError) {
        let watch = try Watch(wakeUp)
        var changed: Set<NamespaceName>?
        // The clock decides: neither system signals nor a stream of events delays the look at everything.
        var nextRound = MonotonicInstant.now
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            if let changed, !nextRound.hasPassed {
                for name in changed {
                    watch.follow(name, of: space)
                    if space.reap(name) { onDeleted(name.text) }
                }
            } else {
                nextRound = .now.advanced(by: Self.interval)
                // Watches are made before the look, so that every change in between is an event.
                watch.followEverything(space)
                // An error (no descriptor is left, for example) does not end the loop: everything is checked again a
                // second later.
                for name in (try? space.reap()) ?? [] { onDeleted(name) }
            }
            changed = try watch.wait(atMost: nextRound.remaining)
        }
    }

    /// The sources of the reaper's events: the root, each namespace's sessions, and each owner's exit.
    private final class Watch {
        private static let wakeToken: UInt64 = 0
        private static let notifyToken: UInt64 = 1
        private static let firstExitToken: UInt64 = 2

        private let epoll: Epoll
        /// The inotify instance; `nil` if the user's instances are used up or inotify is refused.
        private let notify: Notifier?
        private let wakeUp: CInt
        private let exits = ProcessExits<NamespaceName>(firstToken: firstExitToken)
        private var names: [Int32: NamespaceName] = [:]
        private var rootWatch: Int32 = -1

        private final class Notifier {
            let notify: INotify
            init?() {
                guard let notify = try? INotify() else { return nil }
                self.notify = notify
            }
        }

        init(_ wakeUp: borrowing EventFD) throws(SpaceError) {
            self.wakeUp = wakeUp.raw
            do throws(Errno) {
                epoll = try Epoll()
                notify = Notifier()
                try epoll.add(wakeUp.raw, .readable, token: Self.wakeToken)
                if let notify { try epoll.add(notify.notify.raw, .readable, token: Self.notifyToken) }
            } catch {
                throw SpaceError(error, subject: "waiting for events")
            }
        }

        private static let changes: INotify.Mask = [.created, .movedTo, .movedFrom, .deleted, .modified]

        /// Watches the root and its namespaces, and the exits of their owners.
        ///
        /// Whatever can't be watched is checked each second.
        func followEverything(_ space: Space) {
            rootWatch = (try? notify?.notify.add(space.root, Self.changes)) ?? -1
            guard let root = try? space.folder.open(create: false) else { return }
            for entry in (try? Directory.list(root.raw)) ?? [] {
                if let name = NamespaceName(folder: entry) { follow(name, in: root, of: space) }
            }
        }

        func follow(_ name: NamespaceName, of space: Space) {
            guard let root = try? space.folder.open(create: false) else { return }
            follow(name, in: root, of: space)
        }

        private func follow(_ name: NamespaceName, in root: borrowing OwnedDescriptor, of space: Space) {
            guard let folder = try? NamespaceFolder.open(name, in: root, of: space.folder) else {
                return
            }
            if let watch = try? notify?.notify.add("\(folder.descriptor.procPath)/\(SessionFolder.name)", Self.changes)
            {
                names[watch] = name
            }
            for sighting in (try? folder.sightings()) ?? [] where sighting.isAlive {
                if let record = sighting.record, record.isOwning { follow(record.process, owning: name) }
            }
        }

        private func follow(_ process: ProcessIdentity, owning name: NamespaceName) {
            _ = exits.follow(process, for: name) { descriptor, token in
                (try? epoll.add(descriptor, .readable, token: token)) != nil
            }
        }

        /// - Returns: The namespaces that may have lost an owner; `nil` to check all.
        func wait(atMost limit: Duration) throws(SpaceError) -> Set<NamespaceName>? {
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
                    } else {
                        changed.formUnion(exits.end(event.token))
                    }
                }
                return changed
            } catch {
                throw SpaceError(error, subject: "waiting for events")
            }
        }
    }
}
