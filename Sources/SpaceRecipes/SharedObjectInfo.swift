import TupleCoding

/// A named object of a namespace, as listed for inspection.
public struct SharedObjectInfo: Sendable, Hashable {
    /// The object's name.
    public var name: String { named.text }
    package let named: Name
    /// The kind of object: `orderedSet`, `dictionary` and so on.
    public let kind: String
    /// The name of the type of an ordered set's elements or of a dictionary's values; `nil` for other objects.
    public let elementType: String?
    /// The number of elements of an ordered set, entries of a dictionary or items of a queue; `nil` if they can't be
    /// counted.
    public let count: Int?
    /// The number of a queue's items in each state.
    public let items: QueueCounts?
}
