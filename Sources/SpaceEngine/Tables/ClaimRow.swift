import TupleCoding

/// The value of a row in `claims`: the holder, the claim's number, the deadline, and the tuple's row.
///
///     0  holder: a session, a process, or none (`ClaimHolder`)
///     8  claim number
///     16 deadline, milliseconds of the namespace's clock; 0: none; -2⁶³: none, and the claim is the first half of a
///        take; without a holder: when the tuple returns
///     24 the row that stood in `tuples`
package struct ClaimRow: TableRow {
    package static let headerSize = 24

    package let holder: ClaimHolder
    package let number: UInt64
    package let deadline: Int64
    /// Whether the claim is the first half of a take, of which no watcher was told.
    package let isTake: Bool
    /// The tuple's row, borrowed from a page or from a copy.
    package let tupleBytes: UnsafeRawBufferPointer

    private static let takeMark = Int64.min

    init(
        holder: ClaimHolder,
        number: UInt64,
        deadline: Int64,
        isTake: Bool = false,
        tupleBytes: UnsafeRawBufferPointer
    ) {
        self.holder = holder
        self.number = number
        self.deadline = deadline
        self.isTake = isTake
        self.tupleBytes = tupleBytes
    }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize + TupleRow.headerSize else { return nil }
        holder = ClaimHolder(raw: bytes.little(0))
        number = bytes.little(8)
        let deadline: Int64 = bytes.little(16)
        isTake = deadline == Self.takeMark
        self.deadline = isTake ? 0 : deadline
        tupleBytes = UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...])
    }

    /// Whether the tuple is buried, until it is kicked back.
    package var isBuried: Bool { holder == .nobody && deadline == 0 }

    /// Whether the tuple was released with a delay, and returns by itself.
    package var isResting: Bool { holder == .nobody && deadline != 0 }

    /// The row's size in bytes.
    package var size: Int { Self.headerSize + tupleBytes.count }

    /// Copies the row out of the page.
    func copied() -> [UInt8] {
        Array(unsafeUninitializedCapacity: size) { row, count in
            write(to: UnsafeMutableRawBufferPointer(row))
            count = size
        }
    }

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        write(to: try room(size))
    }

    private func write(to row: UnsafeMutableRawBufferPointer) {
        row.storeBytes(of: holder.raw.littleEndian, toByteOffset: 0, as: UInt64.self)
        row.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        row.storeBytes(of: (isTake ? Self.takeMark : deadline).littleEndian, toByteOffset: 16, as: Int64.self)
        UnsafeMutableRawBufferPointer(rebasing: row[Self.headerSize...]).copyMemory(from: tupleBytes)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        UInt64(key: key).map { "the claim on tuple \($0) is too short" }
            ?? "a key of the table of claims has \(key.count) bytes"
    }
}
