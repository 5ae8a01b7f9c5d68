extension Snapshot {
    /// Calls `visit` for each row of the namespace but the one with its life, which a copy doesn't share.
    package func forEachRow(_ visit: (RowChange) throws(SpaceError) -> Void) throws(SpaceError) {
        for table in 1..<tables.numbered.count {
            var rows = try self.table(numbered: table).scan()
            while let (key, value) = try rows.nextBytes() {
                try visit(RowChange(table: table, key: key, value: value))
            }
        }
        try withCountersRow(visit)
    }
}
