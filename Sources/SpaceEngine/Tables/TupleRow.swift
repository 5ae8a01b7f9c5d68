/// The value of a row in `tuples`: a header of 24 or 32 bytes, then the encoded tuple.
///
///     0  expiry, milliseconds of the namespace's clock; 0: never
///     8  deliveries: how often the tuple returned from a claim
///     12 flags: bit 0, the tuple is a record; bit 1, the tuple ends with a holder; bit 2, it is claimed, buried or rests
///     16 by which process and when it was written (`Origin`)
///     24 the holder (`ClaimHolder`), if bit 1 is set
///     24 or 32 the encoded tuple
package struct TupleRow: TableRow {
    /// The size of the shorter header.
    package static let headerSize = 24
    private static let holderSize = 8
    /// The size of the longer header.
    package static let longestHeaderSize = headerSize + holderSize
    static let deliveriesOffset = 8
    private static let originOffset = 16

    package let expiry: Int64
    package let deliveries: UInt32
    /// The holder with whose end the tuple ends, as the row keeps it; 0: none.
    let rawHolder: UInt64
    package let origin: Origin
    /// Whether `claims` has a row for the tuple, so that no look finds it.
    package let isClaimed: Bool
    /// The tuple's bytes, borrowed from a page or from a copy of the row.
    package let encoded: EncodedTuple

    /// Borrows the bytes of a row, or returns `nil` if they are too short.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.headerSize else { return nil }
        expiry = bytes.little(0)
        deliveries = bytes.little(Self.deliveriesOffset)
        origin = Origin(raw: bytes.little(Self.originOffset))
        isClaimed = bytes[12] & 4 != 0
        var head = Self.headerSize
        if bytes[12] & 2 == 0 {
            rawHolder = 0
        } else {
            guard bytes.count >= Self.longestHeaderSize else { return nil }
            rawHolder = bytes.little(Self.headerSize)
            head = Self.longestHeaderSize
        }
        encoded = EncodedTuple(
            bytes: UnsafeRawBufferPointer(rebasing: bytes[head...]),
            isRecord: bytes[12] & 1 != 0
        )
    }

    @inline(__always)
    package init?(key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) { self.init(value) }

    @inline(__always)
    package init(
        expiry: Int64,
        rawHolder: UInt64,
        deliveries: UInt32,
        origin: Origin,
        isClaimed: Bool = false,
        encoded: EncodedTuple
    ) {
        self.expiry = expiry
        self.rawHolder = rawHolder
        self.deliveries = deliveries
        self.origin = origin
        self.isClaimed = isClaimed
        self.encoded = encoded
    }

    /// A tuple that does not expire and never returned from a claim.
    package init(_ encoded: EncodedTuple, _ origin: Origin) {
        self.init(expiry: 0, rawHolder: 0, deliveries: 0, origin: origin, encoded: encoded)
    }

    /// The same row, in whose tuple this long field is known.
    @inline(__always)
    func knowing(_ long: LongField) -> TupleRow { with(encoded: encoded.knowing(long)) }

    /// The same row with other details.
    @inline(__always)
    func with(
        end: RowEnd? = nil,
        deliveries: UInt32? = nil,
        isClaimed: Bool? = nil,
        encoded: EncodedTuple? = nil
    ) -> TupleRow {
        TupleRow(
            expiry: end?.expiry ?? expiry,
            rawHolder: end?.rawHolder ?? rawHolder,
            deliveries: deliveries ?? self.deliveries,
            origin: origin,
            isClaimed: isClaimed ?? self.isClaimed,
            encoded: encoded ?? self.encoded
        )
    }

    /// Calls `body` with a copy of the row, which stays valid whatever is changed meanwhile.
    @inline(__always)
    func withCopy(_ body: (TupleRow) throws(SpaceError) -> Void) throws(SpaceError) {
        try withUnsafeTemporaryAllocation(byteCount: encoded.bytes.count, alignment: 1) { (copy) throws(SpaceError) in
            copy.copyMemory(from: encoded.bytes)
            let bytes = UnsafeRawBufferPointer(rebasing: copy[..<encoded.bytes.count])
            try body(with(encoded: EncodedTuple(bytes: bytes, isRecord: isRecord)))
        }
    }

    package var isRecord: Bool { encoded.isRecord }

    /// When the tuple ends by itself.
    package var end: RowEnd {
        @inline(__always) get { RowEnd(expiry: expiry, rawHolder: rawHolder) }
    }

    /// Whether the tuple ends with a holder.
    package var endsWithHolder: Bool { rawHolder != 0 }

    private var head: Int { rawHolder == 0 ? Self.headerSize : Self.longestHeaderSize }

    /// The row's size in bytes.
    package var size: Int { head + encoded.bytes.count }

    /// Copies the tuple out of the page.
    package func tuple() throws(TupleCodingError) -> Tuple {
        try Tuple(encoded: Array(encoded.bytes), isRecord: isRecord)
    }

    /// Copies the row out of the page.
    func copied() -> [UInt8] {
        Array(unsafeUninitializedCapacity: size) { row, count in
            write(to: UnsafeMutableRawBufferPointer(row))
            count = size
        }
    }

    @inline(__always)
    package func write(to room: (Int) throws(SpaceError) -> UnsafeMutableRawBufferPointer) throws(SpaceError) {
        write(to: try room(size))
    }

    @inline(__always)
    private func write(to row: UnsafeMutableRawBufferPointer) {
        row.storeBytes(of: expiry.littleEndian, toByteOffset: 0, as: Int64.self)
        row.storeBytes(of: deliveries.littleEndian, toByteOffset: Self.deliveriesOffset, as: UInt32.self)
        let flags = (isRecord ? 1 : 0 as UInt32) | (rawHolder == 0 ? 0 : 2) | (isClaimed ? 4 : 0)
        row.storeBytes(of: flags.littleEndian, toByteOffset: 12, as: UInt32.self)
        row.storeBytes(of: origin.raw.littleEndian, toByteOffset: Self.originOffset, as: UInt64.self)
        if rawHolder != 0 {
            row.storeBytes(of: rawHolder.littleEndian, toByteOffset: Self.headerSize, as: UInt64.self)
        }
        UnsafeMutableRawBufferPointer(rebasing: row[head...]).copyMemory(from: encoded.bytes)
    }

    package static func damage(at key: UnsafeRawBufferPointer) -> String {
        UInt64(key: key).map { "tuple \($0) is too short" } ?? "a key of the table of tuples has \(key.count) bytes"
    }
}
