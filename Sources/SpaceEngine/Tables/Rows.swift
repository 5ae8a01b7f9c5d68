import TupleCoding

/// The value of a row in `tuples`: a header of 16 bytes, then the encoded tuple.
///
///     0  expiry, milliseconds of the namespace's clock; 0: never
///     8  deliveries: how often a claim on it came back
///     12 flags: bit 0, the tuple is a record
///     16 the encoded tuple
struct TupleRow {
    static let headerSize = 16
    static let deliveriesOffset = 8

    let expiry: Int64
    let deliveries: UInt32
    /// The tuple's bytes where they lie: in a page, or in a copy of the row.
    let encoded: EncodedTuple

    /// Borrows the bytes of a row; `nil` when they are too short to be one.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize else { return nil }
        expiry = bytes.little(0)
        deliveries = bytes.little(Self.deliveriesOffset)
        encoded = EncodedTuple(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]),
            isRecord: bytes[12] & 1 != 0
        )
    }

    init(expiry: Int64, deliveries: UInt32, encoded: EncodedTuple) {
        self.expiry = expiry
        self.deliveries = deliveries
        self.encoded = encoded
    }

    var isRecord: Bool { encoded.isRecord }

    /// How many bytes the row has.
    var size: Int { Self.headerSize + encoded.bytes.count }

    /// Copies the tuple out of the page.
    func tuple() throws(TupleCodingError) -> Tuple {
        try Tuple(encoded: Array(encoded.bytes), isRecord: isRecord)
    }

    /// Copies the row out of the page.
    func copied() -> [UInt8] {
        Array(unsafeUninitializedCapacity: size) { row, count in
            Self.write(
                expiry: expiry,
                deliveries: deliveries,
                isRecord: isRecord,
                encoded.bytes,
                to: UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(row)[..<size])
            )
            count = size
        }
    }

    static func write(
        expiry: Int64,
        deliveries: UInt32,
        isRecord: Bool,
        _ encoded: UnsafeRawBufferPointer,
        to row: UnsafeMutableRawBufferPointer
    ) {
        row.storeBytes(of: expiry.littleEndian, toByteOffset: 0, as: Int64.self)
        row.storeBytes(of: deliveries.littleEndian, toByteOffset: 8, as: UInt32.self)
        row.storeBytes(of: (isRecord ? 1 : 0 as UInt32).littleEndian, toByteOffset: 12, as: UInt32.self)
        UnsafeMutableRawBufferPointer(rebasing: row[headerSize...]).copyMemory(from: encoded)
    }
}

/// The value of a row in `claims`: who has claimed, under which number, until when, and the tuple's row.
///
///     0  holder: a session, a process, or nobody (`ClaimHolder`)
///     8  claim number
///     16 deadline, milliseconds of the namespace's clock; 0: none
///     24 the row that stood in `tuples`
struct ClaimRow {
    static let headerSize = 24

    let bytes: UnsafeRawBufferPointer

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize + TupleRow.headerSize else { return nil }
        self.bytes = bytes
    }

    var holder: ClaimHolder { ClaimHolder(raw: bytes.little(0)) }
    var number: UInt64 { bytes.little(8) }
    var deadline: Int64 { bytes.little(16) }
    var tupleBytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]) }
}

/// A key of `index`: shape number, hash of the bound fields, tuple id, all big-endian, so that the rows of one shape and
/// hash lie together in the order of writing.
struct IndexKey {
    static let size = 18

    var shape: UInt16
    var hash: UInt64
    var id: UInt64

    init(shape: UInt16, hash: UInt64, id: UInt64) {
        self.shape = shape
        self.hash = hash
        self.id = id
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size else { return nil }
        shape = bytes.big(0)
        hash = bytes.big(2)
        id = bytes.big(10)
    }

    /// The key's bytes on the stack.
    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var storage: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return try withUnsafeMutableBytes(of: &storage) { (bytes) throws(E) -> R in
            bytes.storeBytes(of: shape.bigEndian, toByteOffset: 0, as: UInt16.self)
            bytes.storeBytes(of: hash.bigEndian, toByteOffset: 2, as: UInt64.self)
            bytes.storeBytes(of: id.bigEndian, toByteOffset: 10, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<Self.size]))
        }
    }
}

/// A key of `expiries`: what expires, when, and which.
///
/// Big-endian, so that the next one due stands first.
struct ExpiryKey {
    enum Kind: UInt8 { case tuple = 1, claim = 2 }
    static let size = 17

    var kind: Kind
    var deadline: Int64
    var id: UInt64

    init(kind: Kind, deadline: Int64, id: UInt64) {
        self.kind = kind
        self.deadline = deadline
        self.id = id
    }

    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.size, let kind = Kind(rawValue: bytes[0]) else { return nil }
        self.kind = kind
        deadline = bytes.big(1)
        id = bytes.big(9)
    }

    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        var storage: (UInt64, UInt64, UInt64) = (0, 0, 0)
        return try withUnsafeMutableBytes(of: &storage) { (bytes) throws(E) -> R in
            bytes[0] = kind.rawValue
            bytes.storeBytes(of: deadline.bigEndian, toByteOffset: 1, as: Int64.self)
            bytes.storeBytes(of: id.bigEndian, toByteOffset: 9, as: UInt64.self)
            return try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[..<Self.size]))
        }
    }
}

/// A tuple id as a key: big-endian.
@inline(__always)
func withKey<R, E: Error>(_ id: UInt64, _ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    var key = id.bigEndian
    return try withUnsafeBytes(of: &key) { (bytes) throws(E) -> R in try body(bytes) }
}

/// The checksum of control files and session files.
func hash64(_ bytes: [UInt8]) -> UInt64 { bytes.withUnsafeBytes { Hash64.hash($0) } }

extension Array where Element == UInt8 {
    /// `withUnsafeBytes` for bodies with a typed error, which the standard library's does not pass on.
    @inline(__always)
    func withBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
        let result: Result<R, E> = withUnsafeBytes { bytes in
            do throws(E) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
