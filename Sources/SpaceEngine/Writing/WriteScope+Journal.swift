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
        try JournalWriter(scope: self).add(kind, id: id, flags: flags, name: name, old: old, new: new)
    }

    /// Empties the journal once no watcher is registered and no history is kept.
    package func emptyUnreadJournal() throws(SpaceError) {
        guard !isJournaling, counters.journalFirst != 0 else { return }
        try journal.empty()
        counters.journalFirst = 0
        counters.journalBytes = 0
        noteUpkeep()
    }
}
