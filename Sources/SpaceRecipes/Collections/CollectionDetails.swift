import LMDB
import TupleCoding

/// What the row of an ordered set, or of a dictionary, keeps of it.
struct CollectionDetails {
    var elementType: String

    init(elementType: String) { self.elementType = elementType }

    init?(_ value: Value) {
        guard case .object(let record) = value, case .string(let type)? = record["element"] else { return nil }
        elementType = type
    }

    var value: Value { ["element": .string(elementType)] }
}
