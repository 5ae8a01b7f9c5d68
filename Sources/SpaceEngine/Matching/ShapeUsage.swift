import Synchronization

/// How often this process has searched for a shape by walking through all tuples.
///
/// A shape earns an index by use: when takes of one process have looked at enough tuples, the shape is registered, and
/// from then on every writer maintains its index. Reads never create an index, because they are not counted. One-off
/// commands never create one, because they don't scan repeatedly.
package final class ShapeUsage: Sendable {
    /// A shape is registered after this many scans at the earliest.
    private static let scans = 4
    /// The scans of a shape must have looked at this many tuples together before it is registered.
    private static let examined = 2000
    /// A scan of fewer tuples than this is as quick as an index.
    private static let worthwhile = 64

    private let usage = Mutex<[Shape: (scans: Int, examined: Int)]>([:])

    /// Notes a scan.
    ///
    /// - Returns: Whether the shape has earned an index now.
    func note(_ shape: Shape, examined: Int) -> Bool {
        guard examined >= Self.worthwhile, shape != .anything else { return false }
        return usage.withLock { usage in
            // Some programs make templates from data, so the table is cleared before it grows too large.
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
