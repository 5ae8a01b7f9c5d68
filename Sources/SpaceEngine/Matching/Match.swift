/// A tuple copied out of a snapshot, or one that is lent.
///
/// A lent tuple stays where the look has found it, in its page or on the stack of the look, and is decoded there. It is
/// valid until the borrower returns.
package struct Match: Sendable {
    package let id: TupleID
    package let isRecord: Bool
    /// The encoded tuple; empty if the tuple is lent.
    package let bytes: [UInt8]
    /// The tuple where it is, while it is lent.
    ///
    /// The pointer is why this is unsafe: only the borrower reads through it, on the thread that has the snapshot.
    nonisolated(unsafe) package let lent: UnsafePointer<EncodedTuple>?
    /// Whether the tuple is lent, or was lent and is returned.
    package let isLent: Bool
    /// The size of the encoded tuple.
    package let byteCount: Int
    /// When the tuple expires, on the namespace's clock, or 0 for never.
    package let expiry: Int64
    package let deliveries: UInt32
    /// The holder with whose end the tuple ends, as the row keeps it; 0: none.
    let rawHolder: UInt64
    package let origin: Origin

    package init(_ id: UInt64, _ row: TupleRow) {
        self.id = TupleID(rawValue: id)
        isRecord = row.isRecord
        bytes = Array(row.encoded.bytes)
        lent = nil
        isLent = false
        byteCount = row.encoded.bytes.count
        expiry = row.expiry
        deliveries = row.deliveries
        rawHolder = row.rawHolder
        origin = row.origin
    }

    /// Lends a tuple; with `nil`, the same match after the tuple was returned.
    package init(lending lent: UnsafePointer<EncodedTuple>?, _ id: UInt64, _ row: TupleRow) {
        self.id = TupleID(rawValue: id)
        isRecord = row.isRecord
        bytes = []
        self.lent = lent
        isLent = true
        byteCount = row.encoded.bytes.count
        expiry = row.expiry
        deliveries = row.deliveries
        rawHolder = row.rawHolder
        origin = row.origin
    }

    /// When the tuple ends by itself.
    package var end: RowEnd { RowEnd(expiry: expiry, rawHolder: rawHolder) }

    /// Whether the tuple ends with a holder.
    @inline(__always)
    package var endsWithHolder: Bool { rawHolder != 0 }

    /// The row that was copied, around its bytes.
    package func row(_ bytes: UnsafeRawBufferPointer) -> TupleRow {
        let encoded = EncodedTuple(bytes: bytes, isRecord: isRecord)
        return TupleRow(
            expiry: expiry,
            rawHolder: rawHolder,
            deliveries: deliveries,
            origin: origin,
            encoded: encoded
        )
    }

    package func tuple() throws(SpaceError) -> Tuple {
        do throws(TupleCodingError) {
            if let lent { return try Tuple(copying: lent.pointee) }
            return try Tuple(encoded: bytes, isRecord: isRecord)
        } catch {
            throw .damaged("tuple \(id.rawValue): \(error)")
        }
    }
}
