import SpaceSystem

/// The row of the main table with the life's number, 8 bytes, for the case that the control file is lost.
package struct LifeRow: TableRow {
    package static let size = 8

    package let life: NamespaceLife

    package init(_ life: NamespaceLife) { self.life = life }

    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard value.count == Self.size else { return nil }
        let number: UInt64 = value.little(0)
        guard number != 0 else { return nil }
        life = NamespaceLife(number: number)
    }

    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        try room(Self.size).storeBytes(of: life.number.littleEndian, as: UInt64.self)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String { "the row with the life is damaged" }
}

extension Counters {
    /// The number of the first claim in a life that begins now.
    ///
    /// The numbers of claims, holds (the fencing numbers) and queue items start at the microseconds since 1970. Fewer
    /// than one is given out per microsecond, so the numbers of each later life are greater, unless the clock is set
    /// back by more than the time between the two lives. So no number of an earlier life names anything in a later one,
    /// and a resource protected by a fencing number refuses an old holder in a later life too. The number is below 2⁵³,
    /// so that programs that read JSON numbers as doubles read it exactly.
    package static var firstClaimOfLife: UInt64 { UInt64(min(max(Clock.realtimeMicroseconds(), 1), 1 << 52)) }
}
