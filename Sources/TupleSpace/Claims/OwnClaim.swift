import Synchronization

/// The part of a claim without generics: whether the claim was ended, and the namespace, which it keeps open.
@usableFromInline
package final class OwnClaim: Sendable {
    let claim: HeldClaim
    package let namespace: Namespace
    private let hasEnded = Atomic<Bool>(false)

    init(_ claim: HeldClaim, in namespace: Namespace) {
        self.claim = claim
        self.namespace = namespace
    }

    /// Ends the claim once; if a passing obstacle prevents that, the claim is still held.
    @inline(__always)
    func end<O: Operation>(by operation: (ClaimKey, UInt64) -> O) throws(SpaceError) -> O.Outcome {
        try namespace.attempt(O.name) { (core) throws(SpaceError) in
            try begin()
            do throws(SpaceError) {
                return try core.execute(operation(claim.key, core.session.number))
            } catch {
                undo(error)
                throw error
            }
        }
    }

    @usableFromInline
    func complete() throws(SpaceError) { try end { Complete($0, session: $1) } }

    /// Ends the claim once, and puts its tuple back.
    @usableFromInline
    func keep() throws(SpaceError) { try end { Keep(claim: $0, session: $1) } }

    package func begin() throws(SpaceError) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { throw endedBefore }
    }

    func undo(_ error: any Error) {
        if (error as? SpaceError)?.code != .claimLost { hasEnded.store(false, ordering: .releasing) }
    }

    func extend(by duration: Duration) throws(SpaceError) {
        try namespace.attempt(Extend.name) { (core) throws(SpaceError) in
            guard !hasEnded.load(ordering: .acquiring) else { throw endedBefore }
            try core.claiming.extend(claim, by: duration)
        }
    }

    private var endedBefore: SpaceError {
        .misuse("the claim on tuple \(claim.id) was ended before", advice: "end a claim once")
    }

    package func detached() -> HeldClaim {
        hasEnded.store(true, ordering: .releasing)
        return claim
    }

    /// Called when the claim goes out of scope: releases the tuple if nothing else has ended the claim.
    @usableFromInline
    func drop() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        namespace.core.claiming.releaseOrRemember(claim)
    }
}
