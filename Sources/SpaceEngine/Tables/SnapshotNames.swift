package import LMDB

/// The names that errors of a snapshot give: the operation and the namespace.
///
/// Each transaction that is kept and reused has one such object.
package final class SnapshotNames {
    @exclusivity(unchecked) package fileprivate(set) var operation = ""
    package let namespace: String

    init(namespace: String) { self.namespace = namespace }

    package func begin(_ operation: String) { self.operation = operation }
}

extension Unmanaged<SnapshotNames> {
    /// The error of the operation for one of LMDB's.
    @inline(never)
    package func failure(_ error: LMDBError) -> SpaceError {
        _withUnsafeGuaranteedRef { SpaceError(error, $0.operation, namespace: $0.namespace) }
    }

    @inline(never)
    package func damaged(_ reason: String) -> SpaceError {
        _withUnsafeGuaranteedRef { .damaged($0.operation, namespace: $0.namespace, reason) }
    }
}
