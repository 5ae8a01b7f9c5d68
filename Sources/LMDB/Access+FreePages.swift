extension Access {
    /// The freed pages that can be used again, because no reader's snapshot contains them any more.
    ///
    /// This reads the whole table of free pages, so it is meant for the moment when the file can't grow. In mdb.c the
    /// key of a record is the transaction that freed the pages; the value is a count and that many page numbers, all
    /// `size_t`. `mdb_page_alloc` uses the records below the oldest reader's transaction or, without readers, below the
    /// last transaction.
    ///
    /// `oldestReader`: The oldest snapshot that is being read, or the last transaction if no snapshot is being read.
    /// `lastPage`: The last page in use.
    /// Throws: `.invalidArgument` in a write transaction (mdb.c: `mdb_cursor_open` allows only "read access to the
    ///   freelist"). Begin a read transaction beside it: this one shows the state that the write transaction began
    ///   with.
    /// - Complexity: O(pages) in time, and a bit of memory for each page.
    package func reusableFreePages(oldestReader: Int, lastPage: Int) throws(LMDBError) -> FreePages {
        let limit = UInt(clamping: oldestReader)
        let end = UInt(clamping: lastPage) &+ 1
        var isFree = [UInt64](repeating: 0, count: Int(clamping: end / 64) + 1)
        var cursor = try cursor(Database(handle: 0))
        var pages = FreePages(count: 0, longestRun: 0, lists: 0)
        while let entry = try cursor.next() {
            let size = MemoryLayout<UInt>.size
            guard entry.key.count == size, entry.value.count >= size else { throw .corrupted }
            guard entry.key.loadUnaligned(as: UInt.self) < limit else { break }
            pages.lists += 1
            let listed = min(Int(clamping: entry.value.loadUnaligned(as: UInt.self)), entry.value.count / size - 1)
            // No loop over a range: this one is fast without the optimizer too, as in tests.
            var index = 0
            while index < listed {
                index += 1
                let page = entry.value.loadUnaligned(fromByteOffset: index * size, as: UInt.self)
                guard page < end else { throw .corrupted }
                isFree[Int(page / 64)] |= 1 << UInt64(page % 64)
            }
            pages.count += listed
        }
        pages.longestRun = FreePages.longestRun(in: isFree)
        return pages
    }

    /// How many pages a transaction has freed that no later one has used yet.
    ///
    /// - Complexity: O(log n) in the transactions whose pages are free.
    package func freedPages(by transaction: Int) throws(LMDBError) -> Int {
        var cursor = try cursor(Database(handle: 0))
        return try withUnsafeBytes(of: UInt(clamping: transaction)) { (key) throws(LMDBError) in
            guard let entry = try cursor.seek(key, .exactly) else { return 0 }
            guard entry.value.count >= MemoryLayout<UInt>.size else { throw .corrupted }
            return Int(clamping: entry.value.loadUnaligned(as: UInt.self))
        }
    }
}
