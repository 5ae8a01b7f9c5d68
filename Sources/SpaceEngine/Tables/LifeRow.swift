package import LMDB
import SpaceSystem
import TupleCoding

/// The row of the main table with the life's number, 8 bytes, for the case that the control file is lost.
package enum LifeRow {
    package static let key: StaticString = "life"
    package static let size = 8

    private static var keyBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: key.utf8Start, count: key.utf8CodeUnitCount)
    }

    package static func put(_ life: NamespaceLife, _ access: Access, _ tables: Tables) throws(LMDBError) {
        let row = try access.reserve(tables.main, keyBytes, size: size)
        row.storeBytes(of: life.number.littleEndian, as: UInt64.self)
    }

    /// Reads the life, or returns `nil` if the row is missing or damaged.
    package static func get(_ access: Access, _ tables: Tables) throws(LMDBError) -> NamespaceLife? {
        guard let row = try access.get(tables.main, keyBytes), row.count == size else { return nil }
        let number: UInt64 = row.little(0)
        return number == 0 ? nil : NamespaceLife(number: number)
    }
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
