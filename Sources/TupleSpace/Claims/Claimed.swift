import SpaceSystem
import TupleCoding

/// A claim that was made, and what the tuple was decoded to.
struct Claimed<Content> {
    let claim: HeldClaim
    let content: Content
}
