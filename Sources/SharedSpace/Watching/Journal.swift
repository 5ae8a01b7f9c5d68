import Glibc
import LMDB
import SpaceSystem
import TupleCoding

/// The journal: the numbered list of changes that watchers read.
///
/// Guarantees: a change and its row commit together, so a watcher sees every change once, in order, or a gap that names what it
/// missed. Rows are written if and only if somebody is registered, which is decided inside the write transaction by a counter
/// that registering changes in a transaction of its own; with nobody registered a write pays for one comparison.
/// The sequence rises with every change, journaled or not.
///
///     key    sequence, eight bytes, big-endian
///     value  0  kind
///            1  flags: bit 0, the tuple is a record; bit 1, there is an old value; bit 2, a new one
///            2  length of the name
///            4  process
///            8  time, milliseconds since 1970
///            16 tuple id
///            24 transaction
///            32 length of the old value
///            36 length of the new value, or of the tuple
///            40 name, old value, new value or tuple
struct JournalRow {
    static let headerSize = 40

    let sequence: UInt64
    let bytes: UnsafeRawBufferPointer

    init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard let sequence = UInt64(key: key), value.count >= Self.headerSize, Change.Kind(rawValue: value[0]) != nil
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
        let (old, new) = isTuple || withValues ? (old, new) : (nil, nil)
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
            old: try old.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) },
            new: isTuple ? nil : try new.map { (bytes) throws(TupleCodingError) in try Value(encodedElement: bytes) },
            lastSequence: sequence
        )
    }
}

extension WriteScope {
    /// How many rows the journal keeps at most.
    static let journalRows: UInt64 = 65_536
    /// How many bytes the journal keeps at most: 16 MiB.
    static let journalBytes: UInt64 = 16 << 20

    var isJournaling: Bool { counters.watchers > 0 }

    /// Notes a change: the sequence rises, and while somebody watches the journal gets a row.
    ///
    /// What is passed must be valid until the next change in this transaction; it is copied first.
    func note(
        _ kind: Change.Kind,
        id: UInt64 = 0,
        isRecord: Bool = false,
        name: String = "",
        old: UnsafeRawBufferPointer? = nil,
        new: UnsafeRawBufferPointer? = nil
    ) throws(SpaceError) {
        noteChange()
        guard isJournaling else { return }
        try journal(kind, id: id, isRecord: isRecord, name: name, old: old, new: new)
    }

    private func journal(
        _ kind: Change.Kind,
        id: UInt64,
        isRecord: Bool,
        name: String,
        old: UnsafeRawBufferPointer?,
        new: UnsafeRawBufferPointer?
    ) throws(SpaceError) {
        var row: [UInt8] = []
        let name = Array(name.utf8.prefix(Int(UInt16.max)))
        row.reserveCapacity(JournalRow.headerSize + name.count + (old?.count ?? 0) + (new?.count ?? 0))
        func append(_ value: some FixedWidthInteger) {
            withUnsafeBytes(of: value.littleEndian) { row.append(contentsOf: $0) }
        }
        append(kind.rawValue)
        append((isRecord ? 1 : 0) | (old == nil ? 0 : 2) | (new == nil ? 0 : 4) as UInt8)
        append(UInt16(name.count))
        append(process)
        append(time)
        append(id)
        append(UInt64(access.id))
        append(UInt32(old?.count ?? 0))
        append(UInt32(new?.count ?? 0))
        row.append(contentsOf: name)
        if let old { row.append(contentsOf: old) }
        if let new { row.append(contentsOf: new) }
        let sequence = counters.sequence
        try lmdb { () throws(LMDBError) in
            try row.withBytes { (bytes) throws(LMDBError) in
                try access.put(tables.journal, sequence, bytes, flags: .append)
            }
        }
        if counters.journalFirst == 0 { counters.journalFirst = sequence }
        counters.journalBytes += UInt64(row.count)
        try trimJournal()
    }

    /// Drops the oldest rows beyond the bound: bounded work for each row written.
    private func trimJournal() throws(SpaceError) {
        for _ in 0..<4 {
            guard
                counters.sequence - counters.journalFirst >= Self.journalRows
                    || counters.journalBytes > Self.journalBytes,
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

    /// When nobody watches any more: no rows are kept for nobody.
    func emptyJournal() throws(SpaceError) {
        try lmdb { () throws(LMDBError) in try access.empty(tables.journal) }
        counters.journalFirst = 0
        counters.journalBytes = 0
        noteUpkeep()
    }
}
