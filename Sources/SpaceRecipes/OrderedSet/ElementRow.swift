import LMDB
import TupleCoding

/// An element's row: the chunk that refers to it, four bytes, then the encoding.
struct ElementRow {
    static let headerSize = 4

    let bytes: UnsafeRawBufferPointer

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > Self.headerSize else { return nil }
        self.bytes = bytes
    }

    var chunk: UInt32 { bytes.little(0) }
    var encoded: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]) }

    static func encode(chunk: UInt32, _ encoded: some Sequence<UInt8>) -> [UInt8] {
        withUnsafeBytes(of: chunk.littleEndian) { Array($0) } + encoded
    }
}
