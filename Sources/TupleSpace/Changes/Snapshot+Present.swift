package import LMDB
import TupleCoding

extension Snapshot {
    /// Moves a cursor, and gives an error the name of the operation.
    package func step(
        _ cursor: inout Cursor,
        _ body: (inout Cursor) throws(LMDBError) -> Cursor.Entry?
    ) throws(SpaceError) -> Cursor.Entry? {
        do throws(LMDBError) {
            return try body(&cursor)
        } catch {
            throw SpaceError(error, operation, namespace: namespace)
        }
    }

    /// The change in a row, copied out of the page.
    package func change(of row: JournalRow) throws(SpaceError) -> Change {
        do throws(TupleCodingError) {
            return try row.change()
        } catch {
            throw damaged("change \(row.sequence) of the journal: \(error)")
        }
    }
}
