import LMDB
import SpaceSystem
import TupleCoding

/// What claiming a tuple comes to.
package struct ClaimMade {
    package let number: UInt64
    /// How often it had come back before.
    package let deliveries: Int
}
