/// The row of an element: the id of the chunk that refers to it, in four bytes, then its encoding.
///
/// If the set identifies elements by key, the key's length, in four bytes, and the key's encoding come before the
/// element's. So a process that cannot compute keys still finds, moves and removes elements.
package struct ElementRow {
    package static let headerSize = 4

    package let bytes: UnsafeRawBufferPointer
    private let keySize: Int?

    package init?(_ bytes: UnsafeRawBufferPointer, isKeyed: Bool) {
        guard bytes.count > Self.headerSize else { return nil }
        self.bytes = bytes
        guard isKeyed else {
            keySize = nil
            return
        }
        guard bytes.count > Self.headerSize + 4 else { return nil }
        let size = Int(bytes.little(Self.headerSize, UInt32.self))
        guard size > 0, size < bytes.count - Self.headerSize - 4 else { return nil }
        keySize = size
    }

    package var chunk: UInt32 { bytes.little(0) }

    /// The element's encoding.
    package var encoded: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(Self.headerSize + (keySize.map { $0 + 4 } ?? 0))...])
    }

    /// The key's encoding, or `nil` if the set has none.
    package var key: UnsafeRawBufferPointer? {
        keySize.map { UnsafeRawBufferPointer(rebasing: bytes[(Self.headerSize + 4)...].prefix($0)) }
    }

    /// The bytes that no other element of the set has: the key's, or the element's own.
    package var identity: UnsafeRawBufferPointer { key ?? encoded }

    /// All that comes after the chunk's id, and stays when the element comes into another chunk.
    var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]) }

    static func encode(chunk: UInt32, _ content: some Sequence<UInt8>) -> [UInt8] {
        withUnsafeBytes(of: chunk.littleEndian) { Array($0) } + content
    }

    static func encode(chunk: UInt32, _ element: ElementBytes) -> [UInt8] {
        guard let key = element.key else { return encode(chunk: chunk, element.encoded) }
        let size = withUnsafeBytes(of: UInt32(truncatingIfNeeded: key.count).littleEndian) { Array($0) }
        return encode(chunk: chunk, size + key + element.encoded)
    }
}
