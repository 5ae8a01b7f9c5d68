import Glibc
import LMDB
import SpaceSystem
import TupleCoding

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
package struct JournalRow {
    package static let headerSize = 40

    package let sequence: UInt64
    package let bytes: UnsafeRawBufferPointer

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        // No counter comes near 62 bits, so 1 can always be added.
        guard let sequence = UInt64(key: key), sequence < 1 << 62, value.count >= Self.headerSize,
            ChangeKind(rawValue: value[0]) != nil
        else { return nil }
        self.sequence = sequence
        bytes = value
        guard Self.headerSize + nameLength + oldLength + newLength == value.count else { return nil }
    }

    package var kind: ChangeKind { ChangeKind(rawValue: bytes[0]) ?? .gap }
    package var flags: UInt8 { bytes[1] }
    private var nameLength: Int { Int(bytes.little(2, UInt16.self)) }
    private var oldLength: Int { Int(bytes.little(32, UInt32.self)) }
    private var newLength: Int { Int(bytes.little(36, UInt32.self)) }
    /// Whether the change ended the tuple's visibility: it was taken, claimed, expired, or set aside unclaimed.
    package var endsVisibility: Bool { flags & 8 != 0 }
    package var pid: Int32 { bytes.little(4) }
    package var time: Int64 { bytes.little(8) }
    package var id: UInt64 { bytes.little(16) }
    package var batch: UInt64 { bytes.little(24) }

    private func part(_ offset: Int, _ length: Int) -> UnsafeRawBufferPointer {
        let start = Self.headerSize + offset
        return UnsafeRawBufferPointer(rebasing: bytes[start..<start + length])
    }

    package var name: UnsafeRawBufferPointer { part(0, nameLength) }
    package var old: UnsafeRawBufferPointer? { flags & 2 != 0 ? part(nameLength, oldLength) : nil }
    package var new: UnsafeRawBufferPointer? { flags & 4 != 0 ? part(nameLength + oldLength, newLength) : nil }
    /// The tuple, if the change is one of a tuple.
    package var tuple: EncodedTuple? { id == 0 ? nil : new.map { EncodedTuple(bytes: $0, isRecord: flags & 1 != 0) } }
}
