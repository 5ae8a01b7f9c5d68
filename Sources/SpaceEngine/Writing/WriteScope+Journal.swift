import Glibc
import LMDB
import SpaceSystem
import TupleCoding

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
        let flags: UInt8 = (isRecord ? 1 : 0) | (old == nil ? 0 : 2) | (new == nil ? 0 : 4) | (endsVisibility ? 8 : 0)
        try journal(kind, id: id, flags: flags, name: name, old: old, new: new)
    }

    private func journal(
        _ kind: ChangeKind,
        id: UInt64,
        flags: UInt8,
        name: String,
        old: UnsafeRawBufferPointer?,
        new: UnsafeRawBufferPointer?
    ) throws(SpaceError) {
        var name = name
        let nameLength = min(name.utf8.count, Int(UInt16.max))
        let (oldLength, newLength) = (old?.count ?? 0, new?.count ?? 0)
        let size = JournalRow.headerSize + nameLength + oldLength + newLength
        let (sequence, time) = (counters.sequence, time)
        // The numbers rise, so the row is the last one: its page is filled without being split.
        let row = try lmdb { () throws(LMDBError) in
            try access.reserve(tables.journal, sequence, size: size, flags: .append)
        }
        func store(_ value: some FixedWidthInteger & BitwiseCopyable, _ offset: Int) {
            row.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
        }
        func copy(_ bytes: UnsafeRawBufferPointer, _ offset: Int) {
            UnsafeMutableRawBufferPointer(rebasing: row[offset..<offset + bytes.count]).copyMemory(from: bytes)
        }
        store(kind.rawValue, 0)
        store(flags, 1)
        store(UInt16(nameLength), 2)
        store(process, 4)
        store(time, 8)
        store(id, 16)
        store(UInt64(access.id), 24)
        store(UInt32(oldLength), 32)
        store(UInt32(newLength), 36)
        if nameLength > 0 {
            name.withUTF8 { copy(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer($0)[..<nameLength]), 40) }
        }
        if let old { copy(old, JournalRow.headerSize + nameLength) }
        if let new { copy(new, JournalRow.headerSize + nameLength + oldLength) }
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
            let length = try lmdb { () throws(LMDBError) in try access.get(tables.journal, first)?.count }
            if let length {
                _ = try lmdb { () throws(LMDBError) in try access.delete(tables.journal, first) }
                counters.journalBytes -= min(UInt64(length), counters.journalBytes)
            }
            counters.journalFirst = first + 1
        }
    }

    /// Empties the journal once no watcher is registered and no history is kept.
    package func emptyJournalOfNobody() throws(SpaceError) {
        guard !isJournaling, counters.journalFirst != 0 else { return }
        try lmdb { () throws(LMDBError) in try access.empty(tables.journal) }
        counters.journalFirst = 0
        counters.journalBytes = 0
        noteUpkeep()
    }
}
