package import LMDB
import TupleCoding

/// Cursors that stay where the last tuple's rows went: the next one's are found from there, and not from the root.
///
/// For a batch, in which nothing else is changed meanwhile.
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
