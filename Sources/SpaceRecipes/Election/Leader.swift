import LMDB
import Synchronization
public import TupleCoding

/// Who leads.
public struct Leader: Sendable, Hashable {
    /// The number of the term, greater than all before.
    public let term: UInt64
    /// What the leader wanted the others to see.
    public let value: Value
    /// The process; `nil` when it has just died.
    public let pid: Int32?
}
