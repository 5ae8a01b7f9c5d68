/// The value of a row in `claims`: the holder, the claim's number and the deadline.
///
///     0  holder: a session, a process, or none (`ClaimHolder`)
///     8  claim number
///     16 deadline, milliseconds of the namespace's clock; 0: none; -2⁶³: none, and the claim is the first half of a
///        take; without a holder: when the tuple returns
///
/// The tuple's own row stays where it is, marked as claimed. So a claim and its end change no page's rows but by a few
/// bytes: also a full namespace can take back whatever was claimed in it.
package struct ClaimRow: TableRow {
    package static let size = 24

    package let holder: ClaimHolder
    package let number: UInt64
    package let deadline: Int64
    /// Whether the claim is the first half of a take, of which no watcher was told.
    package let isTake: Bool

    private static let takeMark = Int64.min

    init(holder: ClaimHolder, number: UInt64, deadline: Int64 = 0, isTake: Bool = false) {
        self.holder = holder
        self.number = number
        self.deadline = deadline
        self.isTake = isTake
    }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        holder = ClaimHolder(raw: bytes.little(0))
        number = bytes.little(8)
        let deadline: Int64 = bytes.little(16)
        isTake = deadline == Self.takeMark
        self.deadline = isTake ? 0 : deadline
    }

    /// Whether the tuple is buried, until it is kicked back.
    package var isBuried: Bool { holder == .nobody && deadline == 0 }

    /// Whether the tuple was released with a delay, and returns by itself.
    package var isResting: Bool { holder == .nobody && deadline != 0 }

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        let row = try room(Self.size)
        row.storeBytes(of: holder.raw.littleEndian, toByteOffset: 0, as: UInt64.self)
        row.storeBytes(of: number.littleEndian, toByteOffset: 8, as: UInt64.self)
        row.storeBytes(of: (isTake ? Self.takeMark : deadline).littleEndian, toByteOffset: 16, as: Int64.self)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        UInt64(key: key).map { "the claim on tuple \($0) has another length than a claim" }
            ?? "a key of the table of claims has \(key.count) bytes"
    }
}
