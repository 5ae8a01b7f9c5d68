import LMDB

/// The keys of the rows that a transaction has changed, one for each change.
final class ChangedRows {
    struct Row {
        let database: Database
        /// Where the key is in ``keys``.
        let key: Range<Int>
    }

    private(set) var rows: [Row] = []
    /// The keys, one after the other.
    private(set) var keys: [UInt8] = []

    func clear() {
        rows.removeAll(keepingCapacity: true)
        keys.removeAll(keepingCapacity: true)
    }

    func note(_ database: Database, _ key: UnsafeRawBufferPointer) {
        rows.append(Row(database: database, key: keys.count..<keys.count + key.count))
        keys.append(contentsOf: key)
    }
}
