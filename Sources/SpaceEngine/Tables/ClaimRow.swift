import TupleCoding

/// The value of a row in `claims`: the holder, the claim's number, the deadline, and the tuple's row.
///
///     0  holder: a session, a process, or none (`ClaimHolder`)
///     8  claim number
///     16 deadline, milliseconds of the namespace's clock; 0: none
///     24 the row that stood in `tuples`
package struct ClaimRow {
    package static let headerSize = 24

    package let bytes: UnsafeRawBufferPointer

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize + TupleRow.headerSize else { return nil }
        self.bytes = bytes
    }

    package var holder: ClaimHolder { ClaimHolder(raw: bytes.little(0)) }
    package var number: UInt64 { bytes.little(8) }
    package var deadline: Int64 { bytes.little(16) }
    package var tupleBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]) }
}
