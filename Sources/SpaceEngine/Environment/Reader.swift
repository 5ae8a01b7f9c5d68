import Glibc
import LMDB
import SpaceSystem
import Synchronization

/// A read transaction that is kept: renewing it takes neither a lock nor memory.
///
/// Unchecked: it is owned by the pool's array or by the one thread that took it out.
final class Reader: @unchecked Sendable {
    let transaction: ReadTransaction
    let names: SnapshotNames

    init(_ transaction: consuming ReadTransaction, namespace: String) {
        self.transaction = transaction
        names = SnapshotNames(namespace: namespace)
    }
}
