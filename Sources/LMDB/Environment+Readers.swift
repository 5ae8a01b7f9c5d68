import CGuardedLMDB

extension Environment {
    /// A taken slot of the reader table.
    package struct Reader: Equatable, Sendable {
        /// The process that took the slot.
        package let pid: Int32
        /// The thread that took the slot, as `pthread_self()` returned it there.
        package let thread: UInt64
        /// The snapshot that is being read, or `nil` if none is; pages freed since the snapshot are not reused.
        package let transaction: Int?
    }

    /// Frees the slots of dead processes, and returns how many slots it freed.
    ///
    /// If it finds such a slot, it takes the reader table's mutex, and waits for it without bound: call it under a lock
    /// with a time-out. It never touches slots of this process.
    ///
    /// The corresponding C function is `mdb_reader_check`.
    ///
    /// - Throws: `.badReaderSlot` if another program has changed the lock file's number of readers.
    package func checkReaders() throws(LMDBError) -> Int {
        guard handle != nil else { throw .invalidArgument }
        var dead: CInt = 0
        try check(guarded_reader_check(guarding, &dead))
        return Int(dead)
    }

    /// The slots of the reader table that any process has taken.
    ///
    /// The table is read without a lock: a slot that changes during the read may show half of each state.
    ///
    /// The corresponding C function is `mdb_reader_list`.
    ///
    /// - Throws: `.badReaderSlot` as ``checkReaders()`` does.
    package func readers() throws(LMDBError) -> [Reader] {
        guard handle != nil else { throw .invalidArgument }
        var readers: [Reader] = []
        let result = withUnsafeMutablePointer(to: &readers) { list in
            guarded_reader_list(
                guarding,
                { line, context in
                    guard let line, let context else { return 0 }
                    if let reader = Reader(line: String(cString: line)) {
                        context.assumingMemoryBound(to: [Reader].self).pointee.append(reader)
                    }
                    return 0
                },
                list
            )
        }
        guard result != MDB_BAD_RSLOT else { throw .badReaderSlot }
        // lmdb.h: "< 0 on failure, >= 0 on success"; the result is no error code.
        guard result >= 0 else { throw .invalidArgument }
        return readers
    }
}

extension Environment.Reader {
    /// Reads a line of `mdb_reader_list`; `nil` for its headings ("pid thread txnid", "(no active readers)").
    ///
    /// mdb.c prints a slot as `"%10d %zx %zu\n"`: the process in decimal, the thread in hexadecimal, and the
    /// transaction in decimal or "-".
    init?(line: String) {
        let words = line.split { $0 == " " || $0 == "\n" }
        guard words.count == 3, let pid = Int32(words[0]), let thread = UInt64(words[1], radix: 16) else { return nil }
        if words[2] == "-" {
            transaction = nil
        } else if let number = UInt64(words[2]) {
            // Another process writes the slot, so any number can be in it.
            transaction = Int(clamping: number)
        } else {
            return nil
        }
        self.pid = pid
        self.thread = thread
    }
}
