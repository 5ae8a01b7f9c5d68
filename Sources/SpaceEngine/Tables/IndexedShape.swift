/// A shape whose index is being built, is ready, or is being dropped: a row of `shapes`.
///
///     key    number, two bytes, big-endian
///     value  0  state: 1 building, 2 ready, 3 dropping
///            8  watermark: tuples with lower ids are perhaps not indexed yet
///            16 last use, milliseconds since 1970
///            24 the shape, encoded
package struct IndexedShape: EncodedTableRow, Sendable {
    package enum State: UInt8, Sendable { case building = 1, ready, dropping }
    package static let headerSize = 24

    package var number: UInt16
    package var state: State
    package var watermark: UInt64
    var lastUse: Int64
    package var shape: Shape

}

extension IndexedShape {
    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
        guard let number = UInt16(key: key), value.count > Self.headerSize, let state = State(rawValue: value[0]),
            let shape = Shape(encoded: UnsafeRawBufferPointer(rebasing: value[Self.headerSize...]))
        else { return nil }
        self.number = number
        self.state = state
        watermark = value.little(8)
        lastUse = value.little(16)
        self.shape = shape
    }

    package var encoded: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.headerSize)
        bytes[0] = state.rawValue
        bytes.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: watermark.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: lastUse.littleEndian, toByteOffset: 16, as: Int64.self)
        }
        return bytes + shape.encoded()
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String { "a row of the shapes does not decode" }
}
