package import SpaceEngine
import SpaceSystem

extension Snapshot {
    /// Calls `visit` for each row of the namespace but the one with its life, which a copy doesn't share.
    package func forEachRow(_ visit: (RowChange) throws(SpaceError) -> Void) throws(SpaceError) {
        for table in 1..<tables.numbered.count {
            var rows = try self.table(numbered: table).scan()
            while let (key, value) = try rows.nextBytes() {
                try visit(RowChange(table: table, key: key, value: value))
            }
        }
        guard let counters = try main.get(Array("counters".utf8)) else {
            throw .damaged("the row of counters is missing")
        }
        try Array("counters".utf8).withBytes { (key) throws(SpaceError) in
            try visit(RowChange(table: 0, key: key, value: counters))
        }
    }
}
