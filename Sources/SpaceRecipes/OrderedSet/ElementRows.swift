import LMDB
import TupleCoding

// The rows of `elements` that an ordered set has. Each key begins with the object's number, eight bytes, big-endian.
//
//     0                     directory: how many elements and edits, the next chunk's id, then each chunk's id and count, in order
//     1 ‖ chunk (4)         chunk: the references of up to 256 elements, in order
//     2 ‖ reference (12)    element: the chunk that it is in, then its encoding
//
// So a position is found by counting through the directory, and an element's position by its hash: row, chunk, place in it.
// An edit writes the rows that it concerns, a chunk or two, and the directory.

/// What stands for an element in a chunk: the hash of its encoding, and a number that tells apart those of one hash.
struct ElementReference: Hashable {
    static let size = 12

    let hash: UInt64
    let number: UInt32
}

/// A key of `elements`.
struct ElementKey {
    enum Row: Equatable {
        case directory
        case chunk(UInt32)
        case element(ElementReference)
    }

    let object: UInt64
    let row: Row

    init(_ object: UInt64, _ row: Row) {
        self.object = object
        self.row = row
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 9 else { return nil }
        object = bytes.big(0)
        switch (bytes[8], bytes.count) {
        case (0, 9): row = .directory
        case (1, 13): row = .chunk(bytes.big(9))
        case (2, 21): row = .element(ElementReference(hash: bytes.big(9), number: bytes.big(17)))
        default: return nil
        }
    }

    /// The key's bytes on the stack.
    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
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

/// The directory of an ordered set.
///
///     0  elements
///     8  edits: rises with every change
///     16 the id that the next chunk gets
///     20 zero
///     24 for each chunk its id and its count, 4 bytes each
struct ElementDirectory: Equatable {
    static let headerSize = 24

    struct Chunk: Equatable {
        var id: UInt32
        var count: Int
    }

    var count = 0
    var edits: UInt64 = 0
    var nextChunk: UInt32 = 1
    var chunks: [Chunk] = []

    init() {}

    /// `nil` where the counts contradict each other.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize, (bytes.count - Self.headerSize) % 8 == 0 else { return nil }
        count = Int(clamping: bytes.little(0, UInt64.self))
        edits = bytes.little(8)
        nextChunk = bytes.little(16)
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

    var encoded: [UInt8] {
        Array(unsafeUninitializedCapacity: size) { storage, written in
            let bytes = UnsafeMutableRawBufferPointer(storage)
            bytes.storeBytes(of: UInt64(count).littleEndian, toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: edits.littleEndian, toByteOffset: 8, as: UInt64.self)
            bytes.storeBytes(of: nextChunk.littleEndian, toByteOffset: 16, as: UInt32.self)
            bytes.storeBytes(of: 0, toByteOffset: 20, as: UInt32.self)
            var offset = Self.headerSize
            for chunk in chunks {
                bytes.storeBytes(of: chunk.id.littleEndian, toByteOffset: offset, as: UInt32.self)
                bytes.storeBytes(of: UInt32(chunk.count).littleEndian, toByteOffset: offset + 4, as: UInt32.self)
                offset += 8
            }
            written = offset
        }
    }

    var size: Int { Self.headerSize + 8 * chunks.count }

    /// The chunk in which an index lies, and where in it; the end is behind the last of all.
    func place(of index: Int) -> (chunk: Int, offset: Int) {
        var rest = index
        for (position, chunk) in chunks.enumerated() {
            if rest < chunk.count { return (position, rest) }
            rest -= chunk.count
        }
        return (chunks.count, 0)
    }
}

extension [ElementReference] {
    /// The references of a chunk; `nil` when their number is not what the directory says.
    init?(chunk bytes: UnsafeRawBufferPointer, count: Int) {
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

extension Limits {
    /// How many elements an ordered set may have: 1,048,576.
    public static let orderedSetElements = 1 << 20
    /// What a change of an ordered set may need in the journal, in bytes: 4 MiB.
    ///
    /// Of a larger one observers are told as a reset: they get the elements as they are then.
    public static let orderedSetChangeBytes = 4 << 20
}
