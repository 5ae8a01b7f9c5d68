import SpaceSystem
import Synchronization
import TupleCoding

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
    package func end(
        _ operation: String,
        _ body: (NamespaceCore, HeldClaim) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try namespace.attempt(operation) { (core) throws(SpaceError) in
            try begin()
            do throws(SpaceError) {
                try body(core, claim)
            } catch {
                undo(error)
                throw error
            }
        }
    }

    @usableFromInline
    func complete() throws(SpaceError) {
        try end(Self.completion) { (core, claim) throws(SpaceError) in try core.complete([claim]) }
    }

    /// Ends the claim once, and puts its tuple back.
    func keep() throws(SpaceError) {
        try end(Self.completion) { (core, claim) throws(SpaceError) in try core.keep(claim) }
    }

    static let completion = "complete a claim"

    package func begin() throws(SpaceError) {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { throw endedBefore }
    }

    func undo(_ error: any Error) {
        if (error as? SpaceError)?.code != .claimLost { hasEnded.store(false, ordering: .releasing) }
    }

    package func use(
        _ operation: String,
        _ body: (NamespaceCore, HeldClaim) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        try namespace.attempt(operation) { (core) throws(SpaceError) in
            guard !hasEnded.load(ordering: .acquiring) else { throw endedBefore }
            try body(core, claim)
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
        namespace.core.releaseOrRemember(claim)
    }
}
