import SpaceSystem

extension WriteScope {
    package var isJournaling: Bool { counters.isJournaling }

    /// Notes a change: the sequence rises, and the journal gets a row if a watcher is registered or history is kept.
    ///
    /// The buffers must not point into a page of the database, because they are read after a page has changed.
    package func note(
        _ kind: ChangeKind,
        id: UInt64 = 0,
        isRecord: Bool = false,
        name: String = "",
        old: UnsafeRawBufferPointer? = nil,
        new: UnsafeRawBufferPointer? = nil,
        endsVisibility: Bool = false
    ) throws(SpaceError) {
        if net != nil {
            // Bytes are kept only if the change will be journaled.
            let copies = isJournaling ? (old.map { Array($0) }, new.map { Array($0) }) : (nil, nil)
            net?.add(
                NetChanges.Entry(
                    kind: kind,
                    id: id,
                    isRecord: isRecord,
                    name: name,
                    old: copies.0,
                    new: copies.1,
                    endsVisibility: endsVisibility
                )
            )
            return noteUpkeep()
        }
        noteChange()
        guard isJournaling else { return }
        let flags: UInt8 = (isRecord ? 1 : 0) | (endsVisibility ? 8 : 0)
        try addJournalRow(kind, id: id, flags: flags, name: name, old: old, new: new)
    }

    /// The number of the transaction for watchers: the same on all machines that share the namespace.
    private var batch: UInt64 {
        counters.logEntry == 0
            ? UInt64(snapshot.commit) : SessionNumber.number(member: member, count: counters.logEntry + 1)
    }

    private func addJournalRow(
        _ kind: ChangeKind,
        id: UInt64,
        flags: UInt8,
        name: String,
        old: UnsafeRawBufferPointer?,
        new: UnsafeRawBufferPointer?
    ) throws(SpaceError) {
        let (sequence, time) = (counters.sequence, time)
        var name = name
        let size = try name.withUTF8Bytes { (name) throws(SpaceError) in
            let row = JournalRow(
                sequence: sequence,
                kind: kind,
                flags: flags,
                pid: process,
                time: time,
                id: id,
                batch: batch,
                name: UnsafeRawBufferPointer(rebasing: name.prefix(Int(UInt16.max))),
                old: old,
                new: new
            )
            // The numbers rise, so the row is the last one: its page is filled without being split.
            try journal.append(sequence, row)
            return row.size
        }
        if counters.journalFirst == 0 { counters.journalFirst = sequence }
        counters.journalBytes += UInt64(size)
        try trimJournal(after: size)
    }

    /// Drops the oldest rows beyond the bound.
    ///
    /// The work for each row is bounded, but a large row may have to replace many small ones.
    private func trimJournal(after size: Int) throws(SpaceError) {
        let bound = JournalBound(counters, limit: byteLimit)
        for _ in 0..<4 + size / JournalRow.headerSize {
            guard
                counters.sequence - counters.journalFirst >= bound.rows || counters.journalBytes > bound.bytes,
                counters.journalFirst < counters.sequence
            else { return }
            let first = counters.journalFirst
            if let length = try journalBytes.get(first)?.count {
                try journal.deleteFirst(first, size: length)
                counters.journalBytes -= min(UInt64(length), counters.journalBytes)
            }
            counters.journalFirst = first + 1
        }
    }

    /// Empties the journal once no watcher is registered and no history is kept.
    package func emptyJournalOfNobody() throws(SpaceError) {
        guard !isJournaling, counters.journalFirst != 0 else { return }
        try journal.empty()
        counters.journalFirst = 0
        counters.journalBytes = 0
        noteUpkeep()
    }
}
