import SpaceSystem
import TupleCoding

/// A claim that was made, and what the tuple was decoded to.
package struct Claimed<Content> {
    package let claim: HeldClaim
    package let content: Content
}
