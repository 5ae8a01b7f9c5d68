import SpaceSystem
import Synchronization
import SystemPackage
import TupleCoding

/// A place in the queue of a name, or what is held.
package struct HoldPlace: Sendable, Hashable {
    package let name: String
    package let kind: SharedObjectKind
    package let ticket: UInt64
}

extension HoldPlace {
    /// What ending it demands: at a queue also the rows of the items that return and are served.
    var endDemand: DiskReserve.Demand { kind == .queue ? .removing(16, bytes: 4096) : .removing(1) }

    /// For those who look who waits, as JSON.
    package var text: String { Value.string("\(kind.word) \(name)").json }
}
