import CLMDB

extension Access {
    /// How many freed pages could be used again: those freed by transactions that no reader can still be looking at.
    ///
    /// Reads the whole table of free pages, so it is for the moment when growing has failed. In mdb.c a record's key is the
    /// transaction that freed the pages, and its value a count and as many page numbers, all `size_t`;
    /// `mdb_page_alloc` takes the records below the oldest reader's transaction, and below the last one without readers.
    ///
    /// `oldestReader`: The oldest snapshot that is being read, or the last transaction if none is.
    /// Throws: `.invalidArgument` in a write transaction (mdb.c: `mdb_cursor_open` allows "read access to the freelist"
    ///   alone): a read transaction begun beside it shows what it began with.
    /// - Complexity: O(lists of free pages).
    package func reusableFreePages(oldestReader: Int) throws(LMDBError) -> Int {
        let limit = UInt(clamping: oldestReader)
        var cursor = try cursor(Database(handle: 0))
        var pages = 0
        while let entry = try cursor.next() {
            let size = MemoryLayout<UInt>.size
            guard entry.key.count == size, entry.value.count >= size else { throw .corrupted }
            guard entry.key.loadUnaligned(as: UInt.self) < limit else { break }
            pages += min(Int(clamping: entry.value.loadUnaligned(as: UInt.self)), entry.value.count / size)
        }
        return pages
    }
}
