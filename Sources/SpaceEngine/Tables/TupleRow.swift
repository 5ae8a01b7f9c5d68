import TupleCoding

/// The value of a row in `tuples`: a header of 16 bytes, then the encoded tuple.
///
///     0  expiry, milliseconds of the namespace's clock; 0: never
///     8  deliveries: how often the tuple returned from a claim
///     12 flags: bit 0, the tuple is a record
///     16 the encoded tuple
package struct TupleRow {
    package static let headerSize = 16
    static let deliveriesOffset = 8

    package let expiry: Int64
    package let deliveries: UInt32
    /// The tuple's bytes, borrowed from a page or from a copy of the row.
    package let encoded: EncodedTuple

    /// Borrows the bytes of a row, or returns `nil` if they are too short.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize else { return nil }
        expiry = bytes.little(0)
        deliveries = bytes.little(Self.deliveriesOffset)
        encoded = EncodedTuple(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[Self.headerSize...]),
            isRecord: bytes[12] & 1 != 0
        )
    }

    package init(expiry: Int64, deliveries: UInt32, encoded: EncodedTuple) {
        self.expiry = expiry
        self.deliveries = deliveries
        self.encoded = encoded
    }

    package var isRecord: Bool { encoded.isRecord }

    /// The row's size in bytes.
    package var size: Int { Self.headerSize + encoded.bytes.count }

    /// Copies the tuple out of the page.
    package func tuple() throws(TupleCodingError) -> Tuple {
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

    package static func write(
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
