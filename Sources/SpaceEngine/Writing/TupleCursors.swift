package import LMDB
import TupleCoding

/// Cursors that stay at the last tuple's rows, so the next tuple's rows are found from there and not from the root.
///
/// They are for a batch, in which nothing else is changed meanwhile.
package struct TupleCursors: ~Copyable {
    package var tuples: Cursor
    package var index: Cursor

    package init(_ access: Access, _ tables: Tables) throws(LMDBError) {
        let tuples = try access.cursor(tables.tuples)
        let index = try access.cursor(tables.index)
        self.tuples = tuples
        self.index = index
    }
}
