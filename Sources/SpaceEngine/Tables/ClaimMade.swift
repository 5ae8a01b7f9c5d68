import LMDB
import SpaceSystem
import TupleCoding

/// What claiming a tuple comes to.
struct ClaimMade {
    let number: UInt64
    /// How often it had come back before.
    let deliveries: Int
}
