public import TupleCoding

/// The leader of an election.
public struct Leader: Sendable, Hashable {
    /// The number of the term, greater than those of all earlier terms.
    public let term: UInt64
    /// The value that the leader gave for others to see.
    public let value: Value
    /// The leader's process, or `nil` if it has just died.
    public let pid: Int32?

    /// The value, decoded.
    ///
    /// - Throws: `badData` if the value doesn't decode as the type.
    public func content<Content: Decodable>(as type: Content.Type = Content.self) throws(SpaceError) -> Content {
        try SpaceError.naming("read a leader's value", on: nil) { () throws(SpaceError) in try value.content(type) }
    }
}
