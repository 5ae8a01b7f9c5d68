import LMDB
import TupleCoding

/// Calls `body` with a tuple id as a key: big-endian.
@inline(__always)
package func withKey<R, E: Error>(_ id: UInt64, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    var key = id.bigEndian
    return try withUnsafeBytes(of: &key) { (bytes) throws(E) -> R in try body(bytes) }
}

/// The checksum of control files and session files.
package func hash64(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { Hash64.hash($0) } }

extension UnsafeRawBufferPointer {
    /// Reads an unaligned little-endian integer.
    ///
    /// The caller has checked the bounds.
    package func little<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        I(littleEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }

    /// Reads an unaligned big-endian integer, as keys have it.
    ///
    /// The caller has checked the bounds.
    package func big<I: FixedWidthInteger>(_ offset: Int, _: I.Type = I.self) -> I {
        I(bigEndian: loadUnaligned(fromByteOffset: offset, as: I.self))
    }
}

extension UnsafeRawBufferPointer {
    /// No bytes: the value of a row whose key says all.
    package static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
