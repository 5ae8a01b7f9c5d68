package import LMDB
import SpaceSystem

/// A read transaction that is kept: renewing it takes neither a lock nor memory.
///
/// Unchecked Sendable: its owner is the pool's array or the one thread that took it out.
package final class Reader: @unchecked Sendable {
    package let transaction: ReadTransaction

    package init(_ transaction: consuming ReadTransaction) { self.transaction = transaction }
}
