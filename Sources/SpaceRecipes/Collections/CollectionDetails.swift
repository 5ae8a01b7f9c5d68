import LMDB
import TupleCoding

/// What the row of an ordered set, or of a dictionary, keeps of it.
package struct CollectionDetails {
    package var elementType: String

    package init(elementType: String) { self.elementType = elementType }

    package init?(_ value: Value) {
        guard case .object(let record) = value, case .string(let type)? = record["element"] else { return nil }
        elementType = type
    }

    package var value: Value { ["element": .string(elementType)] }
}
