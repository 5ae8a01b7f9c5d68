import LMDB

/// A table with a tree of its own: how much is in it.
package struct TreeSize: Hashable, Sendable {
    package let name: String
    /// The number of its rows, without those that are only in the near end.
    package let rows: Int
    /// The bytes of its pages.
    package let bytes: Int
}

extension Snapshot {
    /// The sizes of the tables that have a tree of their own; the first has the small tables too.
    package func treeSizes() throws(SpaceError) -> [TreeSize] {
        let names = ["main", "tuples", "index", "cells", "expiries", "journal", "elements"]
        return try zip(names, tables.trees).map { (name, tree) throws(SpaceError) in
            let statistics = try lmdb { () throws(LMDBError) in try access.statistics(tree) }
            return TreeSize(name: name, rows: statistics.entries, bytes: statistics.pages &* statistics.pageSize)
        }
    }

    /// The bytes of the pages that are free, of a data file of which `bytesInUse` bytes are in use.
    ///
    /// Some may still be part of a snapshot that a reader has. Complexity: O(pages).
    package func freeBytes(of bytesInUse: Int) throws(SpaceError) -> Int {
        try lmdb { () throws(LMDBError) in
            let pageSize = max(1, try access.statistics(tables.main).pageSize)
            return try access.reusableFreePages(oldestReader: .max, lastPage: bytesInUse / pageSize).count * pageSize
        }
    }
}
