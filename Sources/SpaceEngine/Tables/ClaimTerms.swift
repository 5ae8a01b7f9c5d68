import SpaceSystem

/// On what terms a tuple is claimed.
struct ClaimTerms: Sendable {
    let holder: ClaimHolder
    /// How long; `nil`: until it is ended or the holder has.
    let deadline: Duration?
}
