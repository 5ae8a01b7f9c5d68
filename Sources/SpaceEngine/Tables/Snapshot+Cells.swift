extension Snapshot {
    /// The value of a cell as one encoded element, or `nil` if the cell is not set.
    package func cell(_ key: String) throws(SpaceError) -> UnsafeRawBufferPointer? {
        try cells.get(key)
    }
}
