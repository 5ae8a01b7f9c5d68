import Synchronization

/// The claims, holds, requests, responders, watchers and handles that this process released but could not end at
/// once.
///
/// Guarantees: each of them ends without a further request: after the transaction in whose body it was released,
/// before the next write of this process, or at a tick, whichever comes first. So a process that finds the thing
/// still held sees none of the releasing process's later writes, unless the release failed again before them. The
/// ticks come from the event loop, which needs none once nothing is left. Leaving the
/// namespace ends everything that the process has in it, including these.
package final class DeferredReleases: Sendable {
    /// Ends something; a repeated call does whatever is still left to do.
    ///
    /// `patience` is the time to wait for the gate. It is `nil` if the thread that releases the thing also ends it: then
    /// the space's time-out applies.
    package typealias Release = @Sendable (_ core: NamespaceCore, _ patience: Duration?) throws(SpaceError) -> Void

    private let releases = Mutex<[Release]>([])
    private let mayBeDone = Atomic<Bool>(false)

    /// Whether the next write has to try; if not, the releases failed for other reasons than the gate, and the ticks
    /// try them.
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
    /// Releases something, now or as soon as possible.
    ///
    /// Within a transaction's body nothing else can be written, so the release happens right after the transaction.
    ///
    /// `patience` is the time to wait for the gate; with `nil`, the release waits as a clean-up step does
    /// (`Engine.cleanUpPatience`).
    package func letGo(patience: Duration? = nil, _ release: @escaping DeferredReleases.Release) {
        guard !isInTransactionHere else { return deferred.add(release) }
        do throws(SpaceError) {
            try release(self, patience ?? engine.cleanUpPatience(timeout))
        } catch  where error.mayPassIfRepeated && !isLeft {
            remember([release], isDue: true)
        } catch {
            // It has ended already: leaving ended everything that this process had, and a child made by fork has
            // nothing.
        }
    }

    /// Ends what could not be ended before.
    ///
    /// It waits for the gate only briefly, and stops trying once the gate was not acquired, because another operation
    /// waits for it.
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
                try release(self, Engine.upkeepPatience)
            } catch  where error.mayPassIfRepeated && !isLeft {
                left.append(release)
                isGateHad = error.code != .holderStopped && error.code != .holderBusy
            } catch {}
        }
        if !left.isEmpty { remember(left, isDue: !isGateHad) }
    }

    /// Releases the claims and holds that a transaction has made for a session if it is not known whether the
    /// transaction counts: no handle exists for them.
    ///
    /// - Parameters:
    ///   - error: The transaction's error.
    ///   - numbers: The numbers of claims and holds that it has given out.
    ///   - session: The session's number.
    package func letGo(after error: SpaceError, of numbers: Range<UInt64>, session: UInt64) {
        guard !numbers.isEmpty else { return }
        letGo(after: error) { (core, patience) throws(SpaceError) in
            try core.endedHolders.end(numbers, of: session, timeout: patience)
        }
    }

    /// Releases something if it is not known whether it was made; later, because the other machines do not answer now.
    func letGo(after error: SpaceError, _ release: @escaping DeferredReleases.Release) {
        guard error.code == .outcomeUnknown, !isLeft else { return }
        remember([release], isDue: true)
    }

    private func remember(_ releases: [DeferredReleases.Release], isDue: Bool) {
        deferred.add(releases, isDue: isDue)
        _ = EventLoop.attend(self)
    }
}
