import SpaceSystem
import TupleCoding

/// A claim that was made, and the decoded content of its tuple.
package struct Claimed<Content> {
    package let claim: HeldClaim
    package let content: Content
}
