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
    package init(_ hold: ClaimHold, _ field: repeat each Field) {
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
