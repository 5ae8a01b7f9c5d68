import SpaceSystem
import TupleCoding

/// The names that errors of a snapshot give: the operation and the namespace.
///
/// Each transaction that is kept and reused has one such object.
package final class SnapshotNames {
    @exclusivity(unchecked) package fileprivate(set) var operation = ""
    package let namespace: String

    init(namespace: String) { self.namespace = namespace }

    package func begin(_ operation: String) { self.operation = operation }
}
