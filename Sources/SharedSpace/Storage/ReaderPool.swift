import LMDB
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

extension Environment {
    /// Gives back the places, and with them the pages, of readers that were killed in their snapshots.
    func forgetDeadReaders() throws(LMDBError) {
        if Safeguard.deadReaders.stands { _ = try checkReaders() }
    }
}

/// The idle readers of a namespace in this process.
///
/// As many exist as have been in use at once.
final class ReaderPool: Sendable {
    private let idle = Mutex<[Reader]>([])

    func take() -> Reader? { idle.withLock { $0.popLast() } }

    func put(_ reader: Reader) { idle.withLock { $0.append(reader) } }

    func removeAll() { idle.withLock { $0.removeAll() } }
}
