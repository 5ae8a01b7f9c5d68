import LMDB
import TupleCoding

/// Which match comes first.
public enum MatchOrder: Sendable, Hashable {
    /// In the order of writing: what waited longest comes first.
    case oldestFirst
    /// Against the order of writing: what came last comes first.
    case newestFirst
}
