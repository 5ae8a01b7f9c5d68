import LMDB
import TupleCoding

/// A named object of a namespace, for those who look on.
public struct SharedObjectInfo: Sendable, Hashable {
    /// The name.
    public var name: String { named.text }
    package let named: Name
    /// What it is: `orderedSet`, `dictionary` and so on.
    public let kind: String
    /// Of an ordered set, the name of the type of its elements; of a dictionary, of its values.
    public let elementType: String?
    /// Of an ordered set, a dictionary or a queue, how many elements, entries or items it has; `nil` where they can't be counted.
    public let count: Int?
    /// Of a queue, how many items are in which state.
    public let items: QueueCounts?
}
