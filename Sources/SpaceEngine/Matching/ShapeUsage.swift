import LMDB
import SpaceSystem
import Synchronization
import TupleCoding

/// Which shapes this process has looked for by looking through everything, and how often.
///
/// A shape earns an index by use: when takes of one process have looked at enough tuples in vain, the shape is registered,
/// and every writer keeps it up from then on. Reads and one-off commands never create one: they can't have scanned
/// repeatedly.
package final class ShapeUsage: Sendable {
    /// Registered after this many scans.
    private static let scans = 4
    /// Registered once the scans looked at this many tuples together.
    private static let examined = 2000
    /// A scan shorter than this is as quick as an index.
    private static let worthwhile = 64

    private let usage = Mutex<[Shape: (scans: Int, examined: Int)]>([:])

    /// Notes a scan.
    ///
    /// - Returns: Whether the shape has earned an index now.
    func note(_ shape: Shape, examined: Int) -> Bool {
        guard examined >= Self.worthwhile, shape != .anything else { return false }
        return usage.withLock { usage in
            // Templates are made from data at times: forget rather than grow.
            if usage.count > 256 { usage.removeAll() }
            var entry = usage[shape] ?? (0, 0)
            entry.scans += 1
            entry.examined += examined
            let isEarned = entry.scans >= Self.scans && entry.examined >= Self.examined
            usage[shape] = isEarned ? nil : entry
            return isEarned
        }
    }
}
