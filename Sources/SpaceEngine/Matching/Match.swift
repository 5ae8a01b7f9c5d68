import LMDB
import TupleCoding

/// A tuple copied out of a snapshot.
package struct Match: Sendable {
    package let id: TupleID
    package let isRecord: Bool
    /// The encoded tuple.
    package let bytes: [UInt8]
    /// When it expires, on the namespace's clock; 0: never.
    package let expiry: Int64
    package let deliveries: UInt32

    package init(_ id: UInt64, _ row: TupleRow) {
        self.id = TupleID(rawValue: id)
        isRecord = row.isRecord
        bytes = Array(row.encoded.bytes)
        expiry = row.expiry
        deliveries = row.deliveries
    }

    /// Calls `body` with the row that was copied.
    func withRow<R>(_ body: (TupleRow) throws(SpaceError) -> R) throws(SpaceError) -> R {
        try bytes.withBytes { (bytes) throws(SpaceError) in
            let encoded = EncodedTuple(bytes: bytes, isRecord: isRecord)
            return try body(TupleRow(expiry: expiry, deliveries: deliveries, encoded: encoded))
        }
    }

    package func tuple() throws(SpaceError) -> Tuple {
        do throws(TupleCodingError) {
            return try Tuple(encoded: bytes, isRecord: isRecord)
        } catch {
            throw SpaceError(.damaged, "read a tuple", reason: "tuple \(id.rawValue): \(error)")
        }
    }
}
