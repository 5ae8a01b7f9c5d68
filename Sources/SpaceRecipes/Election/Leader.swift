/// The leader of an election.
public struct Leader: Sendable, Hashable {
    /// The number of the term, greater than those of all earlier terms.
    public let term: UInt64
    /// The value that the leader gave for others to see.
    public let value: Value
    /// The leader's process, or `nil` if it has just died.
    public let pid: Int32?
}
