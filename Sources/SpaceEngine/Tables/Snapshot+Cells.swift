extension Snapshot {
    /// The row of a cell, or `nil` if the cell is not set or has expired.
    @inline(__always)
    package func cellRow(_ key: String) throws(SpaceError) -> CellRow? {
        guard let row = try cells.get(key), row.end.isVisible(clock) else { return nil }
        return row
    }

    /// The value of a cell as one encoded element, or `nil` if the cell is not set or has expired.
    package func cell(_ key: String) throws(SpaceError) -> UnsafeRawBufferPointer? { try cellRow(key)?.element }
}
