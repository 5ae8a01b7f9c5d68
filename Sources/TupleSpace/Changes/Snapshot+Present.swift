extension Snapshot {
    /// The change in a row, copied out of the page.
    package func change(of row: JournalRow) throws(SpaceError) -> Change {
        do throws(TupleCodingError) {
            return try row.change()
        } catch {
            throw .damaged("change \(row.sequence) of the journal: \(error)")
        }
    }
}
