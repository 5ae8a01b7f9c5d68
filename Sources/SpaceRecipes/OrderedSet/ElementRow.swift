import TupleCoding

/// The row of an element: the id of the chunk that refers to it, in four bytes, then its encoding.
package struct ElementRow {
    package static let headerSize = 4

    package let bytes: UnsafeRawBufferPointer

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.headerSize else { return nil }
        self.bytes = bytes
    }

    package var chunk: UInt32 { bytes.little(0) }
    package var encoded: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]) }

    static func encode(chunk: UInt32, _ encoded: some Sequence<UInt8>) -> [UInt8] {
        withUnsafeBytes(of: chunk.littleEndian) { Array($0) } + encoded
    }
}
