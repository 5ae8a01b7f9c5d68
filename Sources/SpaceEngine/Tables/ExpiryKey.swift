import SpaceSystem
import TupleCoding

/// A key of `expiries`: the kind of what expires, the time, and the id.
///
/// The numbers are big-endian, so within a kind the next one due comes first.
package struct ExpiryKey: TableKey {
    package enum Kind: UInt8 { case tuple = 1, claim = 2 }
    package static let size = 17

    package var kind: Kind
    package var deadline: Int64
    package var id: UInt64

    package init(kind: Kind, deadline: Int64, id: UInt64) {
        self.kind = kind
        self.deadline = deadline
        self.id = id
    }

    package init?(key bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size, let kind = Kind(rawValue: bytes[0]) else { return nil }
        self.kind = kind
        deadline = bytes.big(1)
        id = bytes.big(9)
    }

    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var storage: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return try withUnsafeMutableBytes(of: &storage) { (bytes) throws(E) -> R in
            bytes[0] = kind.rawValue
            bytes.storeBytes(of: deadline.bigEndian, toByteOffset: 1, as: Int64.self)
            bytes.storeBytes(of: id.bigEndian, toByteOffset: 9, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<Self.size]))
        }
    }
}
