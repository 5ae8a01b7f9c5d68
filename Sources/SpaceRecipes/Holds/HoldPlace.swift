import SpaceSystem
import TupleCoding

/// A place in the queue of a name, waiting or holding.
package struct HoldPlace: Sendable, Hashable {
    package let name: String
    package let kind: SharedObjectKind
    package let ticket: UInt64
}

extension HoldPlace {
    /// The disk space that ending it may need; for a queue this includes the rows of the items that return and are
    /// served.
    var endDemand: DiskReserve.Demand { kind == .queue ? .removing(16, bytes: 4096) : .removing(1) }

    /// The text of a wait slot for tools that list waiters, as JSON.
    package var text: String { Value.string("\(kind.word) \(name)").json }
}
