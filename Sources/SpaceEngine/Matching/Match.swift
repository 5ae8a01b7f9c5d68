import SpaceSystem
import TupleCoding

/// A tuple copied out of a snapshot.
package struct Match: Sendable {
    package let id: TupleID
    package let isRecord: Bool
    /// The encoded tuple.
    package let bytes: [UInt8]
    /// When the tuple expires, on the namespace's clock, or 0 for never.
    package let expiry: Int64
    package let deliveries: UInt32

    package init(_ id: UInt64, _ row: TupleRow) {
        self.id = TupleID(rawValue: id)
        isRecord = row.isRecord
        bytes = Array(row.encoded.bytes)
        expiry = row.expiry
        deliveries = row.deliveries
    }

    /// Copies a tuple that does not expire and was never claimed.
    init(_ id: TupleID, _ tuple: EncodedTuple) {
        self.id = id
        isRecord = tuple.isRecord
        bytes = Array(tuple.bytes)
        expiry = 0
        deliveries = 0
    }

    package func tuple() throws(SpaceError) -> Tuple {
        do throws(TupleCodingError) {
            return try Tuple(encoded: bytes, isRecord: isRecord)
        } catch {
            throw SpaceError(.damaged, "read a tuple", reason: "tuple \(id.rawValue): \(error)")
        }
    }
}
