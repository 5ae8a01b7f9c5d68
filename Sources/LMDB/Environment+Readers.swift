import CGuardedLMDB
import CLMDB

extension Environment {
    /// A slot of the reader table that is taken.
    package struct Reader: Equatable, Sendable {
        /// The process that took it.
        package let pid: Int32
        /// The thread that took it, as `pthread_self()` said there.
        package let thread: UInt64
        /// The snapshot that is being read, which keeps pages freed since from being reused; nil: none at present.
        package let transaction: Int?
    }

    /// Frees the slots of processes that have died, and says how many those were.
    ///
    /// Takes the reader table's mutex when it finds one, and waits for it without bound: call it under a lock with a
    /// time-out. Slots of this process are never touched.
    ///
    /// The corresponding C function is `mdb_reader_check`.
    package func checkReaders() throws(LMDBError) -> Int {
        guard handle != nil else { throw .invalidArgument }
        var dead: CInt = 0
        try check(guarded_reader_check(guarding, &dead))
        return Int(dead)
    }

    /// The slots of the reader table that are taken, by all processes.
    ///
    /// Taken without a lock: a slot that changes meanwhile may show half of each state.
    ///
    /// The corresponding C function is `mdb_reader_list`.
    package func readers() throws(LMDBError) -> [Reader] {
        guard let handle else { throw .invalidArgument }
        var readers: [Reader] = []
        let result = withUnsafeMutablePointer(to: &readers) { list in
            mdb_reader_list(
                handle,
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
        // lmdb.h: "< 0 on failure, >= 0 on success", and no code is told.
        guard result >= 0 else { throw .invalidArgument }
        return readers
    }
}

extension Environment.Reader {
    /// Reads a line of `mdb_reader_list`; nil for its headings ("pid thread txnid", "(no active readers)").
    ///
    /// mdb.c prints a slot as `"%10d %zx %zu\n"`: the process in decimal, the thread in hexadecimal, the transaction in
    /// decimal or "-".
    init?(line: String) {
        let words = line.split { $0 == " " || $0 == "\n" }
        guard words.count == 3, let pid = Int32(words[0]), let thread = UInt64(words[1], radix: 16) else { return nil }
        if words[2] == "-" {
            transaction = nil
        } else if let number = UInt64(words[2]) {
            // A slot is another process's memory: any number can be in it.
            transaction = Int(clamping: number)
        } else {
            return nil
        }
        self.pid = pid
        self.thread = thread
    }
}
