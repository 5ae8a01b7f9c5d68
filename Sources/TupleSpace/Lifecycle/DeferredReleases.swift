import SpaceSystem
import Synchronization

/// What this process has let go of in a namespace and could not end then: claims, holds, requests, responders, watchers, handles.
///
/// Guarantees: it ends nevertheless, and nobody needs to ask for it again: after the transaction in whose body it was let go of,
/// before the next write of this process, or at a tick, whichever comes first. So what a process writes after it
/// has let go of something is seen by nobody who finds that still held, but where it could not be had even then. The
/// ticks come from the thread that serves waiting tasks, which sleeps for good while nothing is left. Leaving the
/// namespace ends all that a process has in it, and this with it.
package final class DeferredReleases: Sendable {
    /// Ends something: done again, it does what is left to be done, if anything is.
    ///
    /// `patience`: How long to wait for the gate; `nil`: the space's time-out, since who lets go does it.
    package typealias Release = @Sendable (_ core: NamespaceCore, _ patience: Duration?) throws(SpaceError) -> Void

    private let releases = Mutex<[Release]>([])
    private let mayBeDone = Atomic<Bool>(false)

    /// Whether the next write is to try: the others failed for want of something else than the gate, and are left to the ticks.
    @inline(__always)
    package var isDue: Bool { mayBeDone.load(ordering: .relaxed) }

    package var isEmpty: Bool { releases.withLock { $0.isEmpty } }

    package func add(_ release: @escaping Release) { add([release], isDue: true) }

    fileprivate func add(_ more: [Release], isDue: Bool) {
        releases.withLock { releases in
            releases += more
            if isDue { mayBeDone.store(true, ordering: .relaxed) }
        }
    }

    fileprivate func takeAll() -> [Release] {
        releases.withLock { releases in
            defer { releases = [] }
            mayBeDone.store(false, ordering: .relaxed)
            return releases
        }
    }

    func forget() { _ = takeAll() }
}

extension NamespaceCore {
    /// Whether only ticks bring about what is to happen here.
    package var needsTicks: Bool { !isLeft && (!owners.isEmpty || !deferred.isEmpty && isUsable) }

    /// Lets go of something, now or as soon as it can be.
    ///
    /// Within a transaction's body nothing else can be written: it is done right after.
    ///
    /// `patience`: How long to wait for the gate; `nil`: the space's time-out.
    package func letGo(patience: Duration? = nil, _ release: @escaping DeferredReleases.Release) {
        guard !isInTransactionHere else { return deferred.add(release) }
        do throws(SpaceError) {
            try release(self, patience)
        } catch  where error.mayPass && !isLeft {
            remember([release], isDue: true)
        } catch {
            // Gone already, as all has that this process had when it left; a child made by fork has nothing.
        }
    }

    /// Ends what could not be ended before.
    ///
    /// Without much patience, and not one after the other where the gate is not to be had: it is done in others' time.
    func carryOutDeferred() {
        guard !isInTransactionHere else { return }
        var left: [DeferredReleases.Release] = []
        var isGateHad = true
        for release in deferred.takeAll() {
            guard isGateHad else {
                left.append(release)
                continue
            }
            do throws(SpaceError) {
                try release(self, Self.upkeepPatience)
            } catch  where error.mayPass && !isLeft {
                left.append(release)
                isGateHad = error.code != .holderStopped && error.code != .holderBusy
            } catch {}
        }
        if !left.isEmpty { remember(left, isDue: !isGateHad) }
    }

    private func remember(_ releases: [DeferredReleases.Release], isDue: Bool) {
        deferred.add(releases, isDue: isDue)
        TaskWakeups.of(root).watch(self)
    }
}
