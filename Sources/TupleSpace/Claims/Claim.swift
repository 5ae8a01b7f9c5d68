/// A tuple that this process has claimed: others don't see it, and it returns to its place unless it is completed.
///
/// ```swift
/// let claim = try await jobs.claim("resize", any(Int.self), any(String.self))
/// let (_, id, file) = claim.content
/// try resize(file)
/// try claim.complete { t in try t.write("done", id) }
/// ```
///
/// A claim that goes out of scope without having been ended releases its tuple. The tuple also returns when the process
/// ends, in whatever way, and at the claim's deadline, if it has one. The namespace stays open as long as the claim
/// lives.
public struct Claim<Content: Sendable>: ~Copyable, Sendable {
    /// What the selection makes of the tuple: its fields, typed, the decoded record, or the tuple itself.
    public let content: Content
    @usableFromInline let state: OwnClaim

    @inlinable
    package init(_ state: OwnClaim, _ content: Content) {
        self.state = state
        self.content = content
    }

    @inlinable
    deinit { state.drop() }

    /// The id of the tuple.
    public var id: TupleID { state.claim.id }

    /// The tuple that was claimed.
    public var tuple: Tuple { state.claim.tuple }

    /// How often a claim on the tuple had come back before this one: 0 at its first delivery.
    public var deliveries: Int { state.claim.deliveries }

    /// The claim's number, which no other claim in this namespace ever has, not even after it is deleted and created
    /// again.
    public var number: UInt64 { state.claim.number }

    /// Ends the claim, and either removes the tuple permanently or puts it back in its place, as if it had never been
    /// claimed.
    ///
    /// A tuple that is kept has its id, its place and its end of life as before. This does not count as a delivery, and
    /// earlier deliveries are forgotten. So a tuple can represent a thing that processes use in turn, such as a port or
    /// a machine.
    ///
    /// - Parameter keeping: Whether the tuple goes back.
    /// - Throws: `claimLost` if the tuple returned to the space before, at its deadline; `invalidArgument` if the claim
    ///   was ended before; `holderStopped` or `holderBusy`, and then the process still holds the claim.
    @inlinable
    public func complete(keeping: Bool = false) throws(SpaceError) {
        if keeping { try state.keep() } else { try state.complete() }
    }

    /// Puts the tuple back in its place, for others to claim, and adds one to its deliveries.
    ///
    /// With a delay, no process finds the tuple before that time has passed, so that a tuple whose work fails does not
    /// delay the tuples after it. Then the tuple returns by itself to its old place, even if no process had the
    /// namespace open in between. Until then a dump shows it as a claimed tuple.
    ///
    /// - Parameter delay: How long no process finds it, on a clock that also runs while the machine sleeps.
    /// - Throws: `invalidArgument` if the claim was ended before, or for a negative delay; `holderStopped` or
    ///   `holderBusy`, and then the process still holds the claim.
    public func release(delay: Duration = .zero) throws(SpaceError) {
        try state.namespace.attempt(ReleaseClaims.name) { (_) throws(SpaceError) in
            try delay.checkNotNegative("a delay")
        }
        _ = try state.end { ReleaseClaims(claims: [$0], session: $1, delay: delay) }
    }

    /// Buries the tuple: it is not handed out until ``Namespace/kick(matching:max:)`` puts it back.
    ///
    /// - Throws: What ``complete(keeping:)`` throws.
    public func bury() throws(SpaceError) {
        try state.end { Bury(claim: $0, session: $1) }
    }

    /// Moves the deadline to `duration` from now, if that is later; a claim without a deadline stays without one.
    ///
    /// - Throws: What ``complete(keeping:)`` throws, and `invalidArgument` for a negative duration.
    public func extend(by duration: Duration) throws(SpaceError) {
        try state.extend(by: duration)
    }

    /// Turns the claim into a plain value, which closures may keep, and which another handle on the namespace in this
    /// process can end.
    ///
    /// From now on, the tuple returns only if the value is released, at its deadline, or when the process no longer
    /// uses the namespace.
    public consuming func detach() -> HeldClaim { state.detached() }
}
