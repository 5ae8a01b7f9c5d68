import LMDB
import SpaceSystem
import TupleCoding

/// What errors say of a snapshot: what is done with it, and in which namespace.
///
/// One for each transaction that is kept and used again and again.
package final class SnapshotNames {
    @exclusivity(unchecked) package fileprivate(set) var operation = ""
    package let namespace: String

    init(namespace: String) { self.namespace = namespace }

    package func begin(_ operation: String) { self.operation = operation }
}
