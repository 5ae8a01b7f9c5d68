/// The directory of an ordered set.
///
///     0  number of elements
///     8  number of edits: rises with every change
///     16 the id of the next new chunk
///     20 the form of the elements' rows: 0 the element alone, 1 its key and the element
///     24 for each chunk its id and its number of elements, 4 bytes each
package struct ElementDirectory: Equatable {
    package static let headerSize = 24

    package struct Chunk: Equatable {
        package var id: UInt32
        package var count: Int
    }

    package var count = 0
    package var edits: UInt64 = 0
    var nextChunk: UInt32 = 1
    /// Whether the set identifies elements by key.
    package let isKeyed: Bool
    package var chunks: [Chunk] = []

    package init(isKeyed: Bool) { self.isKeyed = isKeyed }

    /// Decodes the row; `nil` if it is malformed or its counts contradict each other.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize, (bytes.count - Self.headerSize) % 8 == 0 else { return nil }
        count = Int(clamping: bytes.little(0, UInt64.self))
        edits = bytes.little(8)
        nextChunk = bytes.little(16)
        let form = bytes.little(20, UInt32.self)
        guard form <= 1 else { return nil }
        isKeyed = form == 1
        chunks.reserveCapacity((bytes.count - Self.headerSize) / 8)
        var sum = 0
        for offset in stride(from: Self.headerSize, to: bytes.count, by: 8) {
            let chunk = Chunk(id: bytes.little(offset), count: Int(bytes.little(offset + 4, UInt32.self)))
            guard (1...ElementList.chunkSize).contains(chunk.count), chunk.id < nextChunk else { return nil }
            sum += chunk.count
            chunks.append(chunk)
        }
        guard sum == count else { return nil }
    }

    package var encoded: [UInt8] {
        Array(unsafeUninitializedCapacity: size) { storage, written in
            let bytes = UnsafeMutableRawBufferPointer(storage)
            bytes.storeBytes(of: UInt64(count).littleEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: edits.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: nextChunk.littleEndian, toByteOffset: 16, as: UInt32.self)
            bytes.storeBytes(of: UInt32(isKeyed ? 1 : 0).littleEndian, toByteOffset: 20, as: UInt32.self)
            var offset = Self.headerSize
            for chunk in chunks {
                bytes.storeBytes(of: chunk.id.littleEndian, toByteOffset: offset, as: UInt32.self)
                bytes.storeBytes(of: UInt32(chunk.count).littleEndian, toByteOffset: offset + 4, as: UInt32.self)
                offset += 8
            }
            written = offset
        }
    }

    package var size: Int { Self.headerSize + 8 * chunks.count }

    /// The position of the chunk that contains an index, and the offset in it; the end of the set is after the last
    /// chunk.
    package func place(of index: Int) -> (chunk: Int, offset: Int) {
        var rest = index
        for (position, chunk) in chunks.enumerated() {
            if rest < chunk.count { return (position, rest) }
            rest -= chunk.count
        }
        return (chunks.count, 0)
    }
}

extension Limits {
    /// The greatest number of elements of an ordered set: 1,048,576.
    package static let orderedSetElements = 1 << 20
    /// The greatest size of a change of an ordered set in the journal, in bytes: 4 MiB.
    ///
    /// A larger change is reported to observers as a reset, with the elements of that moment.
    package static let orderedSetChangeBytes = 4 << 20
}
