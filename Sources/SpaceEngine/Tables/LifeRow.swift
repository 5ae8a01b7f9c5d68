package import LMDB
import SpaceSystem
import TupleCoding

/// The row of the main table that keeps the life where the control file is lost: the life's number, 8 bytes.
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

    /// The life; `nil` when the row is missing or damaged.
    package static func get(_ access: Access, _ tables: Tables) throws(LMDBError) -> NamespaceLife? {
        guard let row = try access.get(tables.main, keyBytes), row.count == size else { return nil }
        let number: UInt64 = row.little(0)
        return number == 0 ? nil : NamespaceLife(number: number)
    }
}

extension Counters {
    /// The number of the first claim in a life that begins now.
    ///
    /// Numbers of claims, holds (the fencing numbers) and items of queues begin with the microseconds since 1970: fewer than one is
    /// given out in a microsecond, so they are greater in each later life, as long as the clock is not set back by more than
    /// lies between the two. So no such number of an earlier life names anything of a later one, and what a fencing number
    /// protects refuses an old holder also then. Below 2⁵³, so that programs that read JSON numbers as doubles have them whole.
    package static var firstClaimOfLife: UInt64 { UInt64(min(max(Clock.realtimeMicroseconds(), 1), 1 << 52)) }
}
