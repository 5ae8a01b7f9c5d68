/// A key of `elements`.
package struct ElementKey: TableKey {
    package enum Row: Equatable {
        case directory
        case chunk(UInt32)
        case element(ElementReference)
    }

    package let object: UInt64
    package let row: Row

    package init(_ object: UInt64, _ row: Row) {
        self.object = object
        self.row = row
    }

    /// The bytes with which the keys of an object's elements of one hash begin.
    static func prefix(_ object: UInt64, hash: UInt64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 17) { bytes, count in
            let raw = UnsafeMutableRawBufferPointer(bytes)
            raw.storeBytes(of: object.bigEndian, as: UInt64.self)
            raw[8] = 2
            raw.storeBytes(of: hash.bigEndian, toByteOffset: 9, as: UInt64.self)
            count = 17
        }
    }

    package init?(key bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 9 else { return nil }
        object = bytes.big(0)
        switch (bytes[8], bytes.count) {
        case (0, 9): row = .directory
        case (1, 13): row = .chunk(bytes.big(9))
        case (2, 21): row = .element(ElementReference(hash: bytes.big(9), number: bytes.big(17)))
        default: return nil
        }
    }

    /// Calls `body` with the key's bytes, which are on the stack.
    @inline(__always)
    package func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var storage: (UInt64, UInt64, UInt64) = (object.bigEndian, 0, 0)
        return try withUnsafeMutableBytes(of: &storage) { (bytes) throws(E) -> R in
            let size: Int
            switch row {
            case .directory:
                size = 9
            case .chunk(let chunk):
                bytes[8] = 1
                bytes.storeBytes(of: chunk.bigEndian, toByteOffset: 9, as: UInt32.self)
                size = 13
            case .element(let reference):
                bytes[8] = 2
                bytes.storeBytes(of: reference.hash.bigEndian, toByteOffset: 9, as: UInt64.self)
                bytes.storeBytes(of: reference.number.bigEndian, toByteOffset: 17, as: UInt32.self)
                size = 21
            }
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<size]))
        }
    }
}
