import SpaceSystem
import Synchronization
public import TupleCoding

/// A tuple that this process has claimed: out of sight for all others, and back in its old place unless it is completed.
///
/// ```swift
/// let claim = try await jobs.claim("resize", any(Int.self), any(String.self))
/// let (_, id, file) = claim.fields
/// try resize(file)
/// try claim.complete { t in try t.write("done", id) }
/// ```
///
/// A claim that goes out of scope without having been ended releases its tuple. So does the end of the process, however it
/// ends, and the claim's deadline, if it has one. The namespace is kept open as long as the claim lives.
public struct Claim<each Field: Sendable>: ~Copyable, Sendable {
    /// What was claimed: the fields as the template types them, a record decoded, or the tuple.
    public let fields: (repeat each Field)
    @usableFromInline let hold: ClaimHold

    @inlinable
    init(_ hold: ClaimHold, _ field: repeat each Field) {
        self.hold = hold
        fields = (repeat each field)
    }

    @inlinable
    deinit { hold.drop() }

    /// The id of the tuple.
    public var id: TupleID { hold.claim.id }

    /// The tuple, as it stands in the space.
    public var tuple: Tuple { hold.claim.tuple }

    /// How often a claim on the tuple had come back before this one: 0 at its first delivery.
    public var deliveries: Int { hold.claim.deliveries }

    /// The claim's number, which no other claim in the namespace ever has, in this life of it or a later one.
    public var number: UInt64 { hold.claim.number }

    /// Ends the claim: the tuple is gone for good.
    ///
    /// - Throws: `claimLost` when the tuple had returned to the space already, at its deadline; `invalidArgument` when the
    ///   claim was ended before; `holderStopped`, `holderBusy`: then it is still held.
    @inlinable
    public func complete() throws(SpaceError) { try hold.complete() }

    /// Ends the claim together with what `body` does, in one transaction: either the results are there and the tuple is
    /// gone, or neither.
    ///
    /// - Parameter body: What is to happen at once with the completion; see ``Namespace/transaction(_:)``.
    /// - Returns: What `body` returned.
    /// - Throws: What `body` throws, after which the claim is still held, and what ``complete()`` throws.
    public func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        try hold.complete(body)
    }

    /// Puts the tuple back in its place now, for others to claim; its count of deliveries rises.
    ///
    /// - Throws: `invalidArgument` when the claim was ended before; `holderStopped`, `holderBusy`: then it is still held.
    public func release() throws(SpaceError) {
        try hold.end("release a claim") { (core, claim) throws(SpaceError) in _ = try core.release([claim]) }
    }

    /// Sets the tuple aside: nobody gets it until it is kicked back with ``Namespace/kick(matching:max:)``.
    ///
    /// - Throws: What ``complete()`` does.
    public func bury() throws(SpaceError) {
        try hold.end("set a tuple aside") { (core, claim) throws(SpaceError) in try core.bury(claim) }
    }

    /// Moves the deadline to `duration` from now, if that is later; a claim without a deadline stays without.
    ///
    /// - Throws: What ``complete()`` does, and `invalidArgument` for a negative duration.
    public func extend(by duration: Duration) throws(SpaceError) {
        try hold.use("extend a claim") { (core, claim) throws(SpaceError) in try core.extend(claim, by: duration) }
    }

    /// Gives the claim as a plain value, which closures may keep, and which another handle on the namespace in this process
    /// can end.
    ///
    /// From now on nothing releases the tuple but that, its deadline, and the end of the process's use of the namespace.
    public consuming func detach() -> HeldClaim { hold.detached() }
}

/// A claim as a plain value: what ``Claim/detach()`` gives, and what claiming within a transaction does.
///
/// It is ended with ``Namespace/complete(_:)``, ``Namespace/release(_:)`` or ``Namespace/bury(_:)``; unlike a ``Claim``, one
/// that is dropped stays claimed until its deadline, or until the process no longer uses the namespace.
public struct HeldClaim: Sendable, Hashable {
    /// The id of the tuple.
    public let id: TupleID
    /// The claim's number, which no other claim in the namespace ever has.
    public let number: UInt64
    /// The tuple.
    public let tuple: Tuple
    /// How often a claim on the tuple had come back before this one.
    public let deliveries: Int
}

/// What a claim keeps beside its fields: whether it was ended, and the namespace, which must stay open as long.
@usableFromInline
final class ClaimHold: Sendable {
    let claim: HeldClaim
    private let namespace: Namespace
    private let hasEnded = Atomic<Bool>(false)

    init(_ claim: HeldClaim, in namespace: Namespace) {
        self.claim = claim
        self.namespace = namespace
    }

    /// Ends the claim, once; one that could not be ended for a reason that passes is still held.
    func end(
        _ operation: String,
        _ body: (NamespaceCore, HeldClaim) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        let core = try begin(operation)
        do throws(SpaceError) {
            try body(core, claim)
        } catch {
            undo(error)
            throw error
        }
    }

    @usableFromInline
    func complete() throws(SpaceError) {
        try end("complete a claim") { (core, claim) throws(SpaceError) in try core.complete([claim]) }
    }

    /// The same, with a body of the user's.
    func complete<Result>(_ body: (borrowing Transaction) throws -> Result) throws -> Result {
        let core = try begin("complete a claim")
        do {
            return try core.complete(claim, in: namespace, body)
        } catch {
            undo(error)
            throw error
        }
    }

    private func begin(_ operation: String) throws(SpaceError) -> NamespaceCore {
        let core = try namespace.usableCore(operation)
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { throw endedBefore(operation) }
        return core
    }

    private func undo(_ error: any Error) {
        if (error as? SpaceError)?.code != .claimLost { hasEnded.store(false, ordering: .releasing) }
    }

    func use(
        _ operation: String,
        _ body: (NamespaceCore, HeldClaim) throws(SpaceError) -> Void
    ) throws(SpaceError) {
        guard !hasEnded.load(ordering: .acquiring) else { throw endedBefore(operation) }
        try body(try namespace.usableCore(operation), claim)
    }

    private func endedBefore(_ operation: String) -> SpaceError {
        SpaceError(
            .invalidArgument,
            operation,
            namespace: namespace.name,
            reason: "the claim on tuple \(claim.id) was ended before",
            advice: "end a claim once"
        )
    }

    func detached() -> HeldClaim {
        hasEnded.store(true, ordering: .releasing)
        return claim
    }

    /// At the end of the claim's life: releases the tuple if nothing else has ended the claim.
    @usableFromInline
    func drop() {
        guard !hasEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        namespace.core.releaseOrRemember(claim)
    }
}
