/// The journal: the numbered list of changes that watchers read.
///
/// Guarantees: a watcher sees every change once, in order, or a gap that names what it missed, because a change and its
/// row commit together. Rows are written if and only if a watcher is registered or the namespace keeps a history. The
/// write transaction decides that by counters, which a registration changes in a transaction of its own. If rows are
/// not needed, a write pays only for one comparison. The sequence rises with every change, journaled or not.
///
///     key    sequence, eight bytes, big-endian
///     value  0  kind
///            1  flags: bit 0, the tuple is a record; bit 1, there is an old value; bit 2, there is a new one; bit 3,
///               the tuple was visible before, and is not visible now
///            2  length of the name
///            4  process
///            8  time, milliseconds since 1970
///            16 tuple id
///            24 transaction
///            32 length of the old value
///            36 length of the new value, or of the tuple
///            40 name, old value, new value or tuple
///
/// A change of an ordered set has no old value, and its new value is the whole edit (`ElementList.journalForm`). A
/// notification's old value is the number of the object that posted it, if an object did.
package struct JournalRow: TableRow {
    package static let headerSize = 40

    package let sequence: UInt64
    package let kind: ChangeKind
    package let flags: UInt8
    package let pid: Int32
    package let time: Int64
    package let id: UInt64
    package let batch: UInt64
    package let name: UnsafeRawBufferPointer
    private let oldBytes: UnsafeRawBufferPointer
    private let newBytes: UnsafeRawBufferPointer

    @inline(__always)
    init(
        sequence: UInt64,
        kind: ChangeKind,
        flags: UInt8,
        pid: Int32,
        time: Int64,
        id: UInt64,
        batch: UInt64,
        name: UnsafeRawBufferPointer,
        old: UnsafeRawBufferPointer?,
        new: UnsafeRawBufferPointer?
    ) {
        self.sequence = sequence
        self.kind = kind
        self.flags = flags | (old == nil ? 0 : 2) | (new == nil ? 0 : 4)
        self.pid = pid
        self.time = time
        self.id = id
        self.batch = batch
        self.name = name
        oldBytes = old ?? UnsafeRawBufferPointer(start: nil, count: 0)
        newBytes = new ?? UnsafeRawBufferPointer(start: nil, count: 0)
    }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        // No counter comes near 62 bits, so 1 can always be added.
        guard let sequence = UInt64(key: key), sequence < 1 << 62, value.count >= Self.headerSize,
            let kind = ChangeKind(rawValue: value[0])
        else { return nil }
        let nameLength = Int(value.little(2, UInt16.self))
        let oldLength = Int(value.little(32, UInt32.self))
        let newLength = Int(value.little(36, UInt32.self))
        guard Self.headerSize + nameLength + oldLength + newLength == value.count else { return nil }
        func part(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer {
            let start = Self.headerSize + offset
            return UnsafeRawBufferPointer(rebasing: value[start..<start + length])
        }
        self.sequence = sequence
        self.kind = kind
        flags = value[1]
        pid = value.little(4)
        time = value.little(8)
        id = value.little(16)
        batch = value.little(24)
        name = part(0, nameLength)
        oldBytes = part(nameLength, oldLength)
        newBytes = part(nameLength + oldLength, newLength)
    }

    /// The row's size in bytes.
    package var size: Int { Self.headerSize + name.count + oldBytes.count + newBytes.count }
    /// Whether the change ended the tuple's visibility: it was taken, claimed, expired, or buried unclaimed.
    package var endsVisibility: Bool { flags & 8 != 0 }
    package var old: UnsafeRawBufferPointer? { flags & 2 != 0 ? oldBytes : nil }
    package var new: UnsafeRawBufferPointer? { flags & 4 != 0 ? newBytes : nil }
    /// The tuple, if the change is one of a tuple.
    package var tuple: EncodedTuple? { id == 0 ? nil : new.map { EncodedTuple(bytes: $0, isRecord: flags & 1 != 0) } }

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        let row = try room(size)
        func store(_ value: some FixedWidthInteger & BitwiseCopyable, _ offset: Int) {
            row.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
        }
        store(kind.rawValue, 0)
        store(flags, 1)
        store(UInt16(name.count), 2)
        store(pid, 4)
        store(time, 8)
        store(id, 16)
        store(batch, 24)
        store(UInt32(oldBytes.count), 32)
        store(UInt32(newBytes.count), 36)
        func copy(_ part: UnsafeRawBufferPointer, _ offset: Int) {
            UnsafeMutableRawBufferPointer(rebasing: row[(Self.headerSize + offset)...]).copyMemory(from: part)
        }
        copy(name, 0)
        copy(oldBytes, name.count)
        copy(newBytes, name.count + oldBytes.count)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        UInt64(key: key).map { "change \($0) of the journal does not decode" }
            ?? "a row of the journal does not decode"
    }
}
