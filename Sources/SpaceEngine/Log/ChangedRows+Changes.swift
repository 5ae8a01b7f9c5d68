import LMDB
import SpaceSystem

extension ChangedRows {
    /// What a complete transaction has changed, as ``RowChange`` encodes it, in the order of tables and keys.
    ///
    /// A row that was changed a hundred times is one change, with the value that it has in the end. Of the main
    /// database's own rows only the counters are contents; the others belong to this namespace alone.
    func changes(_ tables: Tables, _ access: Access) throws(SpaceError) -> [UInt8] {
        var bytes: [UInt8] = []
        try keys.withBytes { (keys) throws(SpaceError) in
            func key(_ row: Row) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: keys[row.key]) }
            let numbers = tables.numbered
            var sorted = rows.compactMap { row -> (table: Int, row: Row)? in
                guard let table = numbers.firstIndex(of: row.database),
                    table != 0 || MainKey(key: key(row)) == .counters
                else { return nil }
                return (table, row)
            }
            sorted.sort { a, b in
                a.table == b.table ? key(a.row).lexicographicallyPrecedes(key(b.row)) : a.table < b.table
            }
            var last: (table: Int, row: Row)?
            for (table, row) in sorted {
                let key = key(row)
                if let last, last.table == table, key.elementsEqual(keys[last.row.key]) { continue }
                last = (table, row)
                let value = try lmdb { () throws(LMDBError) in try access.get(row.database, key) }
                RowChange(table: table, key: key, value: value).append(to: &bytes)
            }
        }
        return bytes
    }
}
