import Glibc
import LMDB
import SpaceSystem
import TupleCoding

/// The journal: the numbered list of changes that watchers read.
///
/// Guarantees: a change and its row commit together, so a watcher sees every change once, in order, or a gap that names what it
/// missed. Rows are written if and only if somebody is registered or the namespace keeps a history, which is decided inside the
/// write transaction by counters that registering changes in a transaction of its own; else a write pays for one comparison.
/// The sequence rises with every change, journaled or not.
///
///     key    sequence, eight bytes, big-endian
///     value  0  kind
///            1  flags: bit 0, the tuple is a record; bit 1, there is an old value; bit 2, a new one; bit 3, the tuple
///               was visible, and is no longer
///            2  length of the name
///            4  process
///            8  time, milliseconds since 1970
///            16 tuple id
///            24 transaction
///            32 length of the old value
///            36 length of the new value, or of the tuple
///            40 name, old value, new value or tuple
///
/// What happens to an ordered set has no old value, and as the new one all of the edit (`ElementList.journalForm`).
/// A notification's old value is the number of the object that posted it, if it was posted for one.
struct JournalRow {
    static let headerSize = 40

    let sequence: UInt64
    let bytes: UnsafeRawBufferPointer

    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        // No counter comes near 62 bits: one more can always be added.
        guard let sequence = UInt64(key: key), sequence < 1 << 62, value.count >= Self.headerSize,
            Change.Kind(rawValue: value[0]) != nil
        else { return nil }
        self.sequence = sequence
        bytes = value
        guard Self.headerSize + nameLength + oldLength + newLength == value.count else { return nil }
    }

    var kind: Change.Kind { Change.Kind(rawValue: bytes[0]) ?? .gap }
    private var flags: UInt8 { bytes[1] }
    private var nameLength: Int { Int(bytes.little(2, UInt16.self)) }
    private var oldLength: Int { Int(bytes.little(32, UInt32.self)) }
    private var newLength: Int { Int(bytes.little(36, UInt32.self)) }
    /// Whether the tuple was visible before, and was not after: taken, claimed, expired, or set aside unclaimed.
    var endsVisibility: Bool { flags & 8 != 0 }
    var pid: Int32 { bytes.little(4) }
    var time: Int64 { bytes.little(8) }
    var id: UInt64 { bytes.little(16) }
    var batch: UInt64 { bytes.little(24) }

    private func part(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer {
        let start = Self.headerSize + offset
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
    }

    var name: UnsafeRawBufferPointer { part(0, nameLength) }
    var old: UnsafeRawBufferPointer? { flags & 2 != 0 ? part(nameLength, oldLength) : nil }
    var new: UnsafeRawBufferPointer? { flags & 4 != 0 ? part(nameLength + oldLength, newLength) : nil }
    /// The tuple, for what happens to tuples.
    var tuple: EncodedTuple? { id == 0 ? nil : new.map { EncodedTuple(bytes: $0, isRecord: flags & 1 != 0) } }

    /// Copies the change out of the page.
    ///
    /// `withValues`: Whether the values of cells and notifications are wanted; else they are not decoded.
    func change(withValues: Bool = true) throws(TupleCodingError) -> Change {
        let isTuple = id != 0
        if kind.isOfCollection { return try collectionChange() }
        // A notification's old value is its sender's number.
        let wanted = withValues || kind == .post ? old : nil
        let old = try wanted.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) }
        let new = isTuple || withValues ? new : nil
        return Change(
            sequence: sequence,
            kind: kind,
            time: time,
            pid: pid,
            batch: batch,
            id: isTuple ? TupleID(rawValue: id) : nil,
            tuple: isTuple
                ? try new.map { (bytes) throws(TupleCodingError) in
                    try Tuple(encoded: Array(bytes), isRecord: flags & 1 != 0)
                } : nil,
            key: isTuple ? nil : String(decoding: name, as: UTF8.self),
            old: kind == .post ? nil : old,
            new: isTuple ? nil : try new.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) },
            lastSequence: sequence,
            senderID: kind == .post ? old.flatMap(PostSender.number) : nil
        )
    }
}

extension WriteScope {
    var isJournaling: Bool { counters.isJournaling }

    /// Notes a change: the sequence rises, and while somebody watches, or history is kept, the journal gets a row.
    ///
    /// What is passed must not lie in a page of the database: it is read after a page was changed.
    func note(
        _ kind: Change.Kind,
        id: UInt64 = 0,
        isRecord: Bool = false,
        name: String = "",
        old: UnsafeRawBufferPointer? = nil,
        new: UnsafeRawBufferPointer? = nil,
        endsVisibility: Bool = false
    ) throws(SpaceError) {
        if net != nil {
            // Bytes are kept only if anybody is to be told.
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
        _ kind: Change.Kind,
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
        // Numbers rise, so the row is the last: its page is filled without being split.
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

    /// Drops the oldest rows beyond the bound: bounded work for each row written, but more for a large one, which may have to
    /// make the room of many small ones.
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

    /// When nobody watches any more and no history is kept: no rows are kept for nobody.
    func emptyJournalOfNobody() throws(SpaceError) {
        guard !isJournaling, counters.journalFirst != 0 else { return }
        try lmdb { () throws(LMDBError) in try access.empty(tables.journal) }
        counters.journalFirst = 0
        counters.journalBytes = 0
        noteUpkeep()
    }
}
