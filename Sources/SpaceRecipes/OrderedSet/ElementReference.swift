/// The reference to an element in a chunk: the hash of its encoding, and a number that distinguishes elements with the
/// same hash.
package struct ElementReference: Hashable {
    package static let size = 12

    package let hash: UInt64
    package let number: UInt32
}

extension [ElementReference] {
    /// Decodes the references of a chunk; `nil` if there are not as many as the directory says.
    package init?(chunk bytes: UnsafeRawBufferPointer, count: Int) {
        guard bytes.count == count * ElementReference.size else { return nil }
        self = (0..<count).map { place in
            let offset = place * ElementReference.size
            return ElementReference(hash: bytes.little(offset), number: bytes.little(offset + 8))
        }
    }

    var encodedChunk: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count * ElementReference.size) { storage, written in
            let bytes = UnsafeMutableRawBufferPointer(storage)
            var offset = 0
            for reference in self {
                bytes.storeBytes(of: reference.hash.littleEndian, toByteOffset: offset, as: UInt64.self)
                bytes.storeBytes(of: reference.number.littleEndian, toByteOffset: offset + 8, as: UInt32.self)
                offset += ElementReference.size
            }
            written = offset
        }
    }
}
