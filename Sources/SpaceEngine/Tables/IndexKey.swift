/// A key of `index`: the shape's number, the hash of the bound fields, and the tuple's id.
///
/// All numbers are big-endian, so the rows of one shape and hash lie together, in the order of writing.
package struct IndexKey: TableKey {
    package static let size = 18

    package var shape: UInt16
    package var hash: UInt64
    package var id: UInt64

    package init(shape: UInt16, hash: UInt64, id: UInt64) {
        self.shape = shape
        self.hash = hash
        self.id = id
    }

    /// What stands for all tuples, where a key says which tuples are meant: no shape has this number.
    static let allTuples = IndexKey(shape: .max, hash: 0, id: 0)

    package init?(key bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        shape = bytes.big(0)
        hash = bytes.big(2)
        id = bytes.big(10)
    }

    /// The key's bytes on the stack.
    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var storage: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return try withUnsafeMutableBytes(of: &storage) { (bytes) throws(E) -> R in
            bytes.storeBytes(of: shape.bigEndian, toByteOffset: 0, as: UInt16.self)
            bytes.storeBytes(of: hash.bigEndian, toByteOffset: 2, as: UInt64.self)
            bytes.storeBytes(of: id.bigEndian, toByteOffset: 10, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<Self.size]))
        }
    }
}
