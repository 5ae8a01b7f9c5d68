/// Which match comes first.
public enum MatchOrder: Sendable, Hashable {
    /// In the order of writing: the tuple that was written first comes first.
    case oldestFirst
    /// Against the order of writing: the tuple that was written last comes first.
    case newestFirst
}
