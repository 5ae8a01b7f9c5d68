// What the holder of a claim does with it, apart from completing it. The claim may have been made for another process:
// `mayBeEnded(by:)` says whose claims a session ends.

/// A claim on a tuple, by its number.
struct ClaimKey {
    let id: UInt64
    let number: UInt64
}

/// An operation on claims of a session.
protocol OfSession: Operation {
    var session: UInt64 { get set }
}

extension OfSession {
    @inline(__always) var holder: ClaimHolder? { .session(session) }

    @inline(__always)
    func with(holder: ClaimHolder) -> Self {
        guard case .session(let number) = holder else { return self }
        var renewed = self
        renewed.session = number
        return renewed
    }
}

extension WriteScope {
    /// The bytes of a claim's tuple; 0 if there is no such claim.
    func size(of claim: ClaimKey) throws(SpaceError) -> Int {
        try snapshot.claim(on: claim.id) == nil ? 0 : snapshot.claimedTuple(claim.id)?.size ?? 0
    }
}

/// Returns claimed tuples to their places; the outcome is how many of the claims still stood.
struct ReleaseClaims: OfSession {
    let claims: [ClaimKey]
    var session: UInt64
    /// Whether the claims count as deliveries.
    var wasDelivered = true
    /// How long the tuples rest before they are back.
    var delay = Duration.zero

    static var name: String { "release a claim" }

    func size(in scope: WriteScope) throws(SpaceError) -> Int {
        var size = 0
        for claim in claims { size += try scope.size(of: claim) }
        return size
    }

    func execute(in scope: WriteScope) throws(SpaceError) -> Int {
        var returned = 0
        for claim in claims {
            let isOurs = try scope.returnClaim(claim.id, wasDelivered: wasDelivered, delay: delay) { row in
                row.number == claim.number && row.holder.mayBeEnded(by: session)
            }
            if isOurs { returned += 1 }
        }
        return returned
    }
}

/// Ends a claim and keeps its tuple, which counts as never delivered.
struct Keep: OfSession {
    let claim: ClaimKey
    var session: UInt64

    static var name: String { Complete.name }

    func execute(in scope: WriteScope) throws(SpaceError) {
        try scope.keep(claim.id, session: session, number: claim.number)
    }
}

/// Buries a claimed tuple.
struct Bury: OfSession {
    let claim: ClaimKey
    var session: UInt64

    static var name: String { "bury a tuple" }

    func execute(in scope: WriteScope) throws(SpaceError) {
        try scope.bury(claim.id, session: session, number: claim.number)
    }
}

/// Moves a claim's deadline to a time from now, if that is later.
struct Extend: OfSession {
    let claim: ClaimKey
    var session: UInt64
    let duration: Duration

    static var name: String { "extend a claim" }

    func execute(in scope: WriteScope) throws(SpaceError) {
        try scope.extend(claim.id, session: session, number: claim.number, by: duration)
    }
}
