/// Bytes that grow at their end: those of most tuples need no allocation.
@usableFromInline
package struct EncodedBytes: Sendable {
    /// How many bytes lie in place.
    private static let placeLength = 128

    /// The bytes, if they are not more than `placeLength`; a word more, because a few bytes are stored as a whole word.
    package var place = InlineArray<136, UInt8>(repeating: 0)

    /// All bytes, if they are more.
    package private(set) var heap: [UInt8] = []

    @usableFromInline package private(set) var count = 0

    /// No bytes, and room for `capacity` of them.
    @inline(__always)
    init(reservingCapacity capacity: Int = 0) {
        if capacity > Self.placeLength { heap.reserveCapacity(capacity) }
    }

    /// These bytes.
    init(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Whether the bytes are in `place`.
    @inline(__always)
    package var isInPlace: Bool { count <= Self.placeLength }

    /// The bytes as an array.
    package var array: [UInt8] {
        isInPlace ? withUnsafeBytes { Array($0) } : heap
    }

    @inline(__always)
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) -> R) -> R {
        guard isInPlace else { return heap.withUnsafeBytes(body) }
        return Swift.withUnsafeBytes(of: place) { body($0.slice(0..<count)) }
    }

    /// Where the bytes lie, as long as this value does not move and gets no more bytes.
    var pinned: UnsafeRawBufferPointer {
        mutating get {
            guard isInPlace else { return heap.withUnsafeBytes { $0 } }
            return withUnsafeMutableBytes(of: &place) { UnsafeRawBufferPointer($0).slice(0..<count) }
        }
    }

    // MARK: Appending

    @inline(__always)
    mutating func append(_ byte: UInt8) { append(UInt64(byte), length: 1) }

    /// Appends the first bytes of a word, as they lie in memory.
    @inline(__always)
    mutating func append(_ word: UInt64, length: Int) {
        let start = count
        guard start &+ length <= Self.placeLength else {
            return Swift.withUnsafeBytes(of: word) { grow(by: $0.slice(0..<length)) }
        }
        withUnsafeMutableBytes(of: &place) { $0.storeBytes(of: word, toByteOffset: start, as: UInt64.self) }
        count = start &+ length
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        let start = count
        guard start &+ bytes.count <= Self.placeLength else { return grow(by: bytes) }
        withUnsafeMutableBytes(of: &place) {
            UnsafeMutableRawBufferPointer(rebasing: $0[start...]).copyMemory(from: bytes)
        }
        count = start &+ bytes.count
    }

    /// Makes room for `length` bytes more, and for some short ones that follow: without it these would double the array,
    /// and copy it.
    mutating func reserve(_ length: Int) {
        let needed = count + length
        if needed > heap.capacity { heap.reserveCapacity(max(needed + 256, 2 * heap.capacity)) }
    }

    /// Appends to the array, to which it first moves what is in place.
    @inline(never)
    private mutating func grow(by bytes: UnsafeRawBufferPointer) {
        if isInPlace { Swift.withUnsafeBytes(of: place) { heap.append(contentsOf: $0.slice(0..<count)) } }
        heap.append(contentsOf: bytes)
        count = heap.count
    }
}
