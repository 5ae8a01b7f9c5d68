import SpaceSystem

/// The writing of the journal's rows in a write transaction.
struct JournalWriter {
    let scope: WriteScope

    /// The number of the transaction for watchers: the same on all machines that share the namespace.
    private var batch: UInt64 {
        scope.counters.logEntry == 0
            ? UInt64(scope.snapshot.commit)
            : SessionNumber.number(member: scope.logged.member, count: scope.counters.logEntry + 1)
    }

    /// Adds a row for a change that has its number.
    func add(
        _ kind: ChangeKind,
        id: UInt64,
        flags: UInt8,
        name: String,
        old: UnsafeRawBufferPointer?,
        new: UnsafeRawBufferPointer?
    ) throws(SpaceError) {
        let (sequence, time) = (scope.counters.sequence, scope.time)
        var name = name
        let size = try name.withUTF8Bytes { (name) throws(SpaceError) in
            let row = JournalRow(
                sequence: sequence,
                kind: kind,
                flags: flags,
                pid: scope.process,
                time: time,
                id: id,
                batch: batch,
                name: UnsafeRawBufferPointer(rebasing: name.prefix(Int(UInt16.max))),
                old: old,
                new: new
            )
            // The numbers rise, so the row is the last one: its page is filled without being split.
            try scope.journal.append(sequence, row)
            return row.size
        }
        if scope.counters.journalFirst == 0 { scope.counters.journalFirst = sequence }
        scope.counters.journalBytes += UInt64(size)
        try trim(after: size)
    }

    /// Drops the oldest rows beyond the bound.
    ///
    /// The work for each row is bounded, but a large row may have to replace many small ones.
    private func trim(after size: Int) throws(SpaceError) {
        let bound = JournalBound(scope.counters, limit: scope.byteLimit)
        for _ in 0..<4 + size / JournalRow.headerSize {
            guard
                scope.counters.sequence - scope.counters.journalFirst >= bound.rows
                    || scope.counters.journalBytes > bound.bytes,
                scope.counters.journalFirst < scope.counters.sequence
            else { return }
            let first = scope.counters.journalFirst
            if let length = try scope.journalBytes.get(first)?.count {
                try scope.journal.deleteFirst(first, size: length)
                scope.counters.journalBytes -= min(UInt64(length), scope.counters.journalBytes)
            }
            scope.counters.journalFirst = first + 1
        }
    }
}
