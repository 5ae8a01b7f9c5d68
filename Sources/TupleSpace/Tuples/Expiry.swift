import LMDB
import TupleCoding

/// When a written tuple expires.
package struct Expiry {
    /// On the namespace's clock; 0: never.
    package let time: Int64
    /// Accepted, and gone before anybody could have looked.
    let isNeverSeen: Bool

    init(_ duration: Duration?, _ core: NamespaceCore) throws(SpaceError) {
        try core.checkNotNegative(duration, "an expiry", "write")
        time = duration.map { core.clock.time(after: $0) } ?? 0
        isNeverSeen = duration == .zero
    }
}
