/// The id of a tuple in its namespace.
///
/// Ids rise in the order of writing, and are never used twice. A tuple that returns from a claim keeps its id.
public struct TupleID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number.
    public let rawValue: UInt64

    /// Makes an id from its number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The number.
    public var description: String { String(rawValue) }

    /// Whether the left tuple was written before the right one.
    public static func < (left: TupleID, right: TupleID) -> Bool { left.rawValue < right.rawValue }
}
